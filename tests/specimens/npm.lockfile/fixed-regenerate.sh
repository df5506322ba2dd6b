# npm install writes the lock file, and from then on npm ci works.
set -e
npm install
npm ci
node -p 'require("left") + require("right")'
