/** The modules that the main bundle lends to the one that comes later. `build.mjs` reads the names from here. */
import * as signals from "@preact/signals";
import * as preact from "preact";
import * as hooks from "preact/hooks";
import * as jsx from "preact/jsx-runtime";
import * as cells from "../cells";
import * as code from "../code";
import * as edits from "../edits";
import * as format from "../format";
import * as icons from "../icons";
import * as rows from "../rows";
import * as store from "../store";
import * as ui from "../ui";

export const SHARED: Record<string, unknown> = {
  "@preact/signals": signals,
  preact,
  "preact/hooks": hooks,
  "preact/jsx-runtime": jsx,
  "./cells": cells,
  "./code": code,
  "./edits": edits,
  "./format": format,
  "./icons": icons,
  "./rows": rows,
  "./store": store,
  "./ui": ui,
};
