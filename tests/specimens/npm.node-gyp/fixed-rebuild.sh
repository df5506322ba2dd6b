# Built again, by the Node that loads it. (The headers are those of the system's Node, so that none are fetched.)
set -e
export npm_config_nodedir="$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")"
npm rebuild
node -p 'require("./index.js").three'
