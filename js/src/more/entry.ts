/**
 * What is not needed for the first look: a module of its own, fetched over the kernel's wire when it is.
 *
 * It brings no copy of what the main bundle has: `build.mjs` turns those imports into `require`, which `shared.ts` answers.
 */
export { BreakpointsSheet } from "../breaks";
export { Compare } from "../compare";
export { ForkSheet } from "../fork";
export { ExportSheet, HelpSheet, ReplaySheet, RunSheet } from "../sheets";
export { Threads } from "../threads";
