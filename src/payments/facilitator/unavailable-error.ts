// What a facilitator throws when it can not tell: never a verdict about the payment.

export class FacilitatorUnavailableError extends Error {
  constructor(what: string, options: { cause?: unknown } = {}) {
    super(`The facilitator could not tell: ${what}`, options);
    this.name = "FacilitatorTrouble";
  }
}
