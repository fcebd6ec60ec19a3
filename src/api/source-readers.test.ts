// How the connections of a process are divided between its deployments.
import { describe, expect, it } from "vitest";
import { shareConnections } from "./source-readers.ts";

const total = (deployments: number) => {
  const { quick, slow, history } = shareConnections(deployments);
  return deployments * (quick + slow + history);
};

describe("the connections of several deployments", () => {
  it("gives three deployments as many connections as one alone", () => {
    expect(shareConnections(1)).toEqual({ quick: 4, slow: 2, history: 2 });
    expect(shareConnections(3)).toEqual(shareConnections(1));
  });

  it("keeps up to ten deployments within 30 connections, and gives fifty one of each kind", () => {
    for (let deployments = 1; deployments <= 10; deployments += 1) {
      expect([deployments, total(deployments) <= 30]).toEqual([deployments, true]);
    }
    expect(shareConnections(50)).toEqual({ quick: 1, slow: 1, history: 1 });
  });
});
