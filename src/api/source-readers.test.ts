// How the connections of a process are divided between its deployments.
import { describe, expect, it } from "vitest";
import { shareConnections } from "./source-readers.ts";

const total = (deployments: number) => {
  const { quick, slow, history } = shareConnections(deployments);
  return deployments * (quick + slow + history);
};

describe("the connections of several deployments", () => {
  it("are as many as without others while there is room", () => {
    expect(shareConnections(1)).toEqual({ quick: 4, slow: 2, history: 2 });
    expect(shareConnections(3)).toEqual(shareConnections(1));
  });

  it("stay within one limit up to ten, and are one of each kind beyond it", () => {
    for (let deployments = 1; deployments <= 10; deployments += 1) {
      expect([deployments, total(deployments) <= 30]).toEqual([deployments, true]);
    }
    expect(shareConnections(50)).toEqual({ quick: 1, slow: 1, history: 1 });
  });
});
