// Graphviz as a module of its own: the page asks for it when it first draws a graph.
export { instance } from "@viz-js/viz";
