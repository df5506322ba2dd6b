# Installed as npm 6 did: the peer's range is not enforced.
set -e
npm install --legacy-peer-deps
node -p 'require("chart")()'
