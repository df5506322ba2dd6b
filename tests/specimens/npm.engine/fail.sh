# A package asks for a Node that is newer than this one, and the project's .npmrc makes that an error.
set -e
npm install
node -p 'require("modern")'
