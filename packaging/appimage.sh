#!/usr/bin/env bash
# Makes an AppImage of the folder that .ci/bundle built, by appimagetool on the PATH. A test builds the AppDir and starts
# what is in it; appimagetool itself, which is on no index of packages, has not been tried.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
image=build/RankStudio.AppDir

rm -rf "$image"
mkdir -p "$image/usr/share/applications" "$image/usr/share/mime/packages" "$image/usr/share/metainfo"
cp -r build/bundle/rankstudio "$image/usr/bin"
mkdir -p "$image/usr/share/icons" && cp -r packaging/linux/icons "$image/usr/share/icons/hicolor"
cp packaging/linux/rankstudio.desktop "$image/usr/share/applications/"
cp packaging/linux/rankstudio.xml "$image/usr/share/mime/packages/"
cp packaging/linux/rankstudio.metainfo.xml "$image/usr/share/metainfo/io.github.rankstudio.rankstudio.metainfo.xml"
cp packaging/linux/rankstudio.desktop packaging/linux/icons/256x256/apps/rankstudio.png "$image/"
printf '%s\n' '#!/bin/sh' 'exec "$(dirname "$(readlink -f "$0")")/usr/bin/rankstudio" "$@"' >"$image/AppRun"
chmod +x "$image/AppRun"
appimagetool "$image" build/RankStudio-x86_64.AppImage
