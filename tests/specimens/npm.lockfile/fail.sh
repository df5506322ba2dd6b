# A dependency was added to package.json by hand; the lock file was not made anew.
set -e
npm ci
node -p 'require("left") + require("right")'
