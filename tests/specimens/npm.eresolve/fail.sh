# The application has core 2, and a package of its wants core 1 beside itself.
set -e
npm install
node -p 'require("chart")()'
