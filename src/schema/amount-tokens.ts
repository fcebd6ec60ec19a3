// The amounts of the protocol's records, and the fields that name their tokens.

/** The field alongside an amount that names its token; bids and fills have the tokens of their intent. */
export const AMOUNT_TOKENS: Readonly<Record<string, string>> = {
  amount: "token",
  amount_in: "input_token",
  amount_out: "output_token",
  surplus_out: "output_token",
  amount_in_max: "input_token",
  amount_out_min: "output_token",
  attempted: "token",
  gross_amount: "token",
  max_per_day: "token",
  max_per_payment: "token",
  protocol_fee_amount: "token",
  remaining: "token",
  spent: "token",
  suggested_value: "token",
};
