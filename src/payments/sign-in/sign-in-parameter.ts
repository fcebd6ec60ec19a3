// The header of sign-in as OpenAPI documents describe it.
import type { Parameter } from "../../schema/parameter.ts";

export const SIGN_IN_PARAMETER: Parameter = {
  name: "SIGN-IN-WITH-X",
  in: "header",
  required: false,
  kind: { json: { type: "string" }, parse: (text) => text },
  description:
    "In place of a payment, by an account that has paid for this request: base64 of the signed challenge in `extensions.sign-in-with-x` of the 402. It gets the stored response again and is charged nothing.",
  example: "eyJkb21haW4iOiJhcGkuZXhhbXBsZSJ9",
};
