# Install the package that is missing.
npm install padding && node fail.js
