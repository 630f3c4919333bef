/** What stands below the oldest row: whether there is more to read. */
import { make } from "./cells";
import { count } from "./format";
import type { Store } from "./store";

export class Foot {
  readonly el = make("div", "ckv-older");
  private readonly words = make("span", "ckv-muted");
  private readonly button = make("button", "ckv-link") as HTMLButtonElement;

  constructor(private readonly store: Store) {
    this.el.setAttribute("role", "presentation");
    this.button.type = "button";
    this.button.textContent = "Read older ones";
    this.button.addEventListener("click", () => void store.older());
    this.el.append(this.words, this.button);
    this.update();
  }

  update(): void {
    const more = this.store.more.peek();
    this.el.hidden = !more;
    if (more) this.words.textContent = `The newest ${count(this.store.checkpoints, "checkpoint")} are shown.`;
  }
}
