# A program for Node, bundled as for a browser.
set -e
npm install --silent
npx esbuild app.js --bundle --outfile=out.js
node out.js
