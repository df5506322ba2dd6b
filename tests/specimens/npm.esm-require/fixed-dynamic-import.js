// import() loads an ES module from CommonJS.
import("shout").then(({ default: shout }) => console.log(shout("epoch done")));
