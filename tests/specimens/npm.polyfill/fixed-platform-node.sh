# Bundled for Node.
set -e
npm install --silent
npx esbuild app.js --bundle --platform=node --outfile=out.js
node out.js
