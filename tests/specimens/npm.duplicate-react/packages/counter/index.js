const React = require("react");

module.exports = function Counter() {
  const [count] = React.useState(3);
  return React.createElement("b", null, count);
};
