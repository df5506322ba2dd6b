// The component's package brings a React of its own; the renderer belongs to the application's.
const React = require("react");
const { renderToString } = require("react-dom/server");
const Counter = require("counter");

console.log(renderToString(React.createElement(Counter)));
