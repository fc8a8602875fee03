from rankstudio.ui.style.key_text import key_text


def test_the_first_key_is_told(app):
    assert key_text("Ctrl++; Ctrl+=") == "Ctrl++"
    assert key_text("Shift+Esc") == "Shift+Esc"
    assert key_text("") == ""
