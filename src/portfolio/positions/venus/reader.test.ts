// Venus by what its own contracts returned: every amount is what its markets said themselves.
import { describe } from "vitest";
import recording from "../../../../tests/fixtures/positions/venus.json" with { type: "json" };
import { describeCompoundV2Fork } from "../../../../tests/support/portfolio/compound-v2-fork-suite.ts";
import { createVenusReader } from "../compound-v2/reader.ts";

describe("Venus", () => describeCompoundV2Fork("venus", recording, createVenusReader));
