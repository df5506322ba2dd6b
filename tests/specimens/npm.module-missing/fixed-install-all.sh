# Install what package.json lists.
npm install && npm ci && node fail.js
