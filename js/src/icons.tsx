const PATHS = {
  fork: "M5 3v10M5 9c0-3 6-1 6-5V3M5 3h0M11 3h0",
  replay: "M3 8a5 5 0 1 0 1.8-3.8M3 2.5V5.5H6",
  pause: "M5.5 3v10M10.5 3v10",
  run: "M5 3l7 5-7 5z",
  stop: "M4 4h8v8H4z",
  down: "M8 2v8m-3-3 3 3 3-3M3 13.5h10",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  help: "M6 6a2 2 0 1 1 2.6 1.9c-.4.2-.6.6-.6 1.1M8 12v0",
  first: "M12 3 6 8l6 5zM4 3v10",
  prev: "M11 3 5 8l6 5z",
  next: "M5 3l6 5-6 5z",
  last: "M4 3l6 5-6 5zM12 3v10",
  back: "M10 3 5 8l5 5",
  lock: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  pencil: "M3 13l.7-3L11 2.7l2.3 2.3L6 12.3zM9.5 4.2l2.3 2.3",
  undo: "M5.5 3 3 5.5 5.5 8M3 5.5h6.5a3.5 3.5 0 0 1 0 7H6",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  close: "M4 4l8 8M12 4l-8 8",
  flask: "M6 2.5h4M6.7 2.5v4L3.5 12a1 1 0 0 0 .9 1.5h7.2a1 1 0 0 0 .9-1.5L9.3 6.5v-4M5 10h6",
  dot: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  swap: "M3 5.5h9m-2.5-3 2.5 3-2.5 3M13 11H4m2.5-3L4 11l2.5 3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, fill = false }: { name: IconName; fill?: boolean }) {
  return (
    <svg
      class="ckv-icon"
      width="14"
      height="14"
      viewBox="0 0 16 16"
      aria-hidden="true"
      fill={fill ? "currentColor" : "none"}
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
