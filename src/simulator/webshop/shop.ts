/** A shop and its episodes: WebShop's text environment over a catalogue. */
import { type OpenPage, type PageDescriptor, pageKey } from "../../core/environment/webshop/page.ts";
import type { PageActions } from "../../core/environment/webshop/prompt.ts";
import { InputError } from "../../core/errors.ts";
import { offeredAction } from "./action.ts";
import type { Catalogue, Goal, Product } from "./catalogue.ts";
import { type PageView, pageActions, textView } from "./page-view.ts";
import {
  BACK,
  BUY,
  donePage,
  itemPage,
  NEXT,
  PREVIOUS,
  resultsPage,
  SUB_PAGES,
  startPage,
  subPage,
} from "./pages.ts";
import { purchaseReward } from "./reward.ts";
import { ProductIndex } from "./search.ts";

/** Name of a goal as a task: `goal6`, after its catalogue's name where that has one. */
export const goalTask = (catalogue: string | undefined, goal: number): string =>
  `${catalogue === undefined ? "" : `${catalogue}/`}goal${goal}`;

/** What one action led to. */
export interface ShopStep {
  /** The page does not offer the action, and stays as it is. */
  rejected: boolean;
  /** 0 to 1; 0 before the purchase. */
  reward: number;
  done: boolean;
}

/** A catalogue with its index. Episodes share it and never change it. */
export class Shop {
  readonly catalogue: Catalogue;
  readonly #index: ProductIndex;
  readonly #byAsin: ReadonlyMap<string, Product>;

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
    this.#index = new ProductIndex(catalogue.products);
    this.#byAsin = new Map(catalogue.products.map((product) => [product.asin, product]));
  }

  search(query: string): Product[] {
    return this.#index.search(query);
  }

  /** @throws Error for a product that the catalogue does not have */
  product(asin: string): Product {
    const product = this.#byAsin.get(asin);
    if (product === undefined) throw new Error(`no product ${asin}`);
    return product;
  }

  /** Name of a goal as a task. */
  taskOf(goal: number): string {
    return goalTask(this.catalogue.name, goal);
  }

  /**
   * Index of the goal that a task names; `goal6` will do for every catalogue.
   *
   * @throws InputError for any other name, and for a goal that the catalogue does not have
   */
  goalOf(task: string): number {
    const count = this.catalogue.goals.length;
    const digits = /(?:^|\/)goal(\d+)$/.exec(task)?.[1];
    const goal = Number(digits);
    if (digits === undefined || goal >= count || ![this.taskOf(goal), `goal${goal}`].includes(task))
      throw new InputError(
        `expected a task from ${this.taskOf(0)} to ${this.taskOf(count - 1)}, received ${JSON.stringify(task)}`,
        { key: "task" },
      );
    return goal;
  }

  /** Begins an episode. @throws InputError for a goal that the catalogue does not have */
  open(goal: number): ShopEpisode {
    const chosen = this.catalogue.goals[goal];
    if (chosen === undefined)
      throw new InputError(`expected a goal from 0 to ${this.catalogue.goals.length - 1}, received ${goal}`, {
        key: "goal",
      });
    return new ShopEpisode(this, chosen);
  }
}

const START: OpenPage = {
  page_type: "start",
  keywords: [],
  page: null,
  asin: null,
  options: {},
  sub_page: null,
};

/** One customer with one goal, from the start page to the purchase. */
export class ShopEpisode {
  readonly goal: Goal;
  readonly #shop: Shop;
  #page: PageDescriptor;
  #view: PageView;
  readonly #visited = new Set<string>();
  #done = false;

  constructor(shop: Shop, goal: Goal) {
    this.#shop = shop;
    this.goal = goal;
    this.#page = START;
    this.#view = startPage(goal.instruction_text);
  }

  /** The page's text, in WebShop's mode `text_rich`. */
  get observation(): string {
    const { options } = this.#page;
    return textView(this.#view, new Set([...Object.values(options), ...this.#visited]));
  }

  get actions(): PageActions {
    return pageActions(this.#view);
  }

  /** What the locator's key is made of. */
  get page(): PageDescriptor {
    return this.#page;
  }

  /** Locator key of the page. */
  get key(): string {
    return pageKey(this.#page);
  }

  get done(): boolean {
    return this.#done;
  }

  /**
   * Does one action. A search works on every page, a click on what the page offers. Any other text is rejected: the page
   * stays as it is, without a word.
   *
   * @throws InputError after the purchase: the episode is over
   */
  step(action: string): ShopStep {
    if (this.#done) throw new InputError("the episode is over: the purchase was made");
    const offered = offeredAction(action, this.actions);
    if (offered === null) return this.#reject();
    const { kind, argument } = offered;
    return kind === "search" ? this.#search(argument.split(" "), 1) : this.#click(argument);
  }

  #click(name: string): ShopStep {
    const page = this.#page;
    // The last page offers nothing.
    if (page.page_type === "done") return this.#reject();
    if (name === BACK.toLowerCase()) {
      this.#visited.clear();
      return this.#show(START, startPage(this.goal.instruction_text));
    }
    if (page.page_type === "search_results") {
      const number = page.page ?? 1;
      if (name === NEXT.toLowerCase()) return this.#search(page.keywords, number + 1);
      if (name === PREVIOUS.toLowerCase()) return this.#search(page.keywords, number - 1);
      const asin = name.toUpperCase();
      this.#visited.add(asin);
      return this.#item(page, asin, {});
    }
    const asin = page.asin ?? "";
    if (name === PREVIOUS.toLowerCase())
      return page.page_type === "item_page"
        ? this.#search(page.keywords, page.page ?? 1)
        : this.#item(page, asin, page.options);
    if (name === BUY.toLowerCase()) return this.#buy(asin);
    const sub = SUB_PAGES.find((title) => title.toLowerCase() === name);
    if (sub !== undefined)
      return this.#show(
        { ...page, page_type: "item_sub_page", sub_page: sub },
        subPage(this.goal.instruction_text, this.#shop.product(asin), sub),
      );
    return this.#choose(page, asin, name);
  }

  /** Where two options have the same value, the later one is chosen, as on WebShop's pages. */
  #choose(page: OpenPage, asin: string, value: string): ShopStep {
    const option = Object.entries(this.#shop.product(asin).options).findLast(([, values]) =>
      values.includes(value),
    );
    if (option === undefined) return this.#reject();
    return this.#item(page, asin, { ...page.options, [option[0]]: value });
  }

  #buy(asin: string): ShopStep {
    const { options } = this.#page;
    const price = this.#shop.catalogue.prices[asin]!;
    const reward = purchaseReward(this.#shop.product(asin), this.goal, price, Object.values(options));
    this.#done = true;
    this.#show({ page_type: "done", asin, options }, donePage(asin, options, reward));
    return { rejected: false, reward, done: true };
  }

  #search(keywords: string[], page: number): ShopStep {
    const found = this.#shop.search(keywords.join(" "));
    return this.#show(
      { page_type: "search_results", keywords, page, asin: null, options: {}, sub_page: null },
      resultsPage(this.goal.instruction_text, found, page),
    );
  }

  #item(before: OpenPage, asin: string, options: Record<string, string>): ShopStep {
    return this.#show(
      { ...before, page_type: "item_page", asin, options, sub_page: null },
      itemPage(this.goal.instruction_text, this.#shop.product(asin)),
    );
  }

  #show(page: PageDescriptor, view: PageView): ShopStep {
    this.#page = page;
    this.#view = view;
    return { rejected: false, reward: 0, done: false };
  }

  #reject(): ShopStep {
    return { rejected: true, reward: 0, done: false };
  }
}
