/** Full-text search over a shop's products: BM25 as Lucene counts it, with plain lower-case tokens. */
import type { Product } from "./catalogue.ts";

/** Saturation of term frequency, and weight of a document's length: the index's settings in WebShop. */
const K1 = 0.9;
const B = 0.4;

/** Hits of one search, at most. */
const HITS = 50;

const tokens = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

/** What is indexed of a product: title, description, first feature and options. */
function indexedText({ Title, Description, BulletPoints, options }: Product): string {
  const choices = Object.entries(options).map(([name, values]) => `${name}: ${values.join(", ")}`);
  return [Title, Description, BulletPoints[0] ?? "", choices.join(", and ")].join(" ");
}

/** Products by the words that they hold. */
export class ProductIndex {
  readonly #products: readonly Product[];
  /** Word → products that hold it, with its count in each. */
  readonly #holders = new Map<string, Map<number, number>>();
  readonly #lengths: number[] = [];
  readonly #meanLength: number;

  constructor(products: readonly Product[]) {
    this.#products = products;
    for (const [product, entry] of products.entries()) {
      const words = tokens(indexedText(entry));
      this.#lengths.push(words.length);
      for (const word of words) {
        const holders = this.#holders.get(word) ?? new Map<number, number>();
        this.#holders.set(word, holders);
        holders.set(product, (holders.get(product) ?? 0) + 1);
      }
    }
    this.#meanLength = this.#lengths.reduce((sum, length) => sum + length, 0) / products.length;
  }

  /** The best 50 products, best first; of equals the one that the catalogue lists first. */
  search(query: string): Product[] {
    const scores = new Map<number, number>();
    const count = this.#products.length;
    for (const word of tokens(query)) {
      const holders = this.#holders.get(word);
      if (holders === undefined) continue;
      const rarity = Math.log(1 + (count - holders.size + 0.5) / (holders.size + 0.5));
      for (const [product, frequency] of holders) {
        const length = this.#lengths[product]! / this.#meanLength;
        const weight = (rarity * frequency) / (frequency + K1 * (1 - B + B * length));
        scores.set(product, (scores.get(product) ?? 0) + weight);
      }
    }
    return [...scores]
      .sort(([a, x], [b, y]) => y - x || a - b)
      .slice(0, HITS)
      .map(([product]) => this.#products[product]!);
  }
}
