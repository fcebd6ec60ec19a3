// Moonwell by what its own contracts returned: every amount is what its markets said themselves.
import { describe } from "vitest";
import recording from "../../../../tests/fixtures/positions/moonwell.json" with { type: "json" };
import { describeCompoundV2Fork } from "../../../../tests/support/portfolio/compound-v2-fork-suite.ts";
import { createMoonwellReader } from "../compound-v2/reader.ts";

describe("Moonwell", () => describeCompoundV2Fork("moonwell", recording, createMoonwellReader));
