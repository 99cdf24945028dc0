/** Work where only the last call counts: another may begin before it ends, or it is given up. */
export class Latest {
  #turn = 0;

  /** Begins a turn; all before it are over. @returns whether it still is the last one */
  begin(): () => boolean {
    this.#turn += 1;
    return this.present();
  }

  /** The turn that is under way. @returns whether it still is the last one */
  present(): () => boolean {
    const mine = this.#turn;
    return () => mine === this.#turn;
  }

  /** Gives the present turn up. */
  end(): void {
    this.#turn += 1;
  }
}
