// Every failure of a server or a network becomes a Fault that says whether to retry.
import { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { Fault } from "../../lib/fault.ts";
import { isConnectionBroken, sqlState, toDatabaseFault } from "./errors.ts";

const target = { server: "db.example:5432", database: "sextant", user: "me" };

function fromServer(code: string, message = "", severity = "ERROR"): DatabaseError {
  return Object.assign(new DatabaseError(message, 0, "error"), { code, severity });
}

function fromSystem(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code });
}

describe("toDatabaseFault", () => {
  it.each([
    [fromServer("08006"), "DATABASE_UNREACHABLE"],
    [fromServer("57P01", "terminating connection", "FATAL"), "DATABASE_UNREACHABLE"],
    [fromServer("57P03"), "DATABASE_UNREACHABLE"],
    [fromServer("53300"), "DATABASE_UNREACHABLE"],
    [fromServer("28P01"), "DATABASE_UNREACHABLE"],
    [fromServer("53100"), "DATABASE_FULL"],
    [fromServer("53200"), "DATABASE_FULL"],
    [fromServer("40001"), "DATABASE_BUSY"],
    [fromServer("40P01"), "DATABASE_BUSY"],
    [fromServer("55P03"), "DATABASE_BUSY"],
    [fromServer("0A000", "cached plan must not change result type"), "DATABASE_BUSY"],
    [fromServer("25006"), "DATABASE_UNREACHABLE"],
    [fromServer("0A000", "cannot set transaction read-write mode during recovery"), "DATABASE_UNREACHABLE"],
    [fromServer("57014"), "TIMED_OUT"],
    [fromServer("25P03"), "TIMED_OUT"],
    [fromSystem("ECONNREFUSED"), "DATABASE_UNREACHABLE"],
    [fromSystem("ECONNRESET"), "DATABASE_UNREACHABLE"],
    [fromSystem("EPIPE"), "DATABASE_UNREACHABLE"],
    [fromSystem("SELF_SIGNED_CERT_IN_CHAIN"), "DATABASE_UNREACHABLE"],
    [new AggregateError([fromSystem("ECONNREFUSED"), fromSystem("ECONNREFUSED")]), "DATABASE_UNREACHABLE"],
    [new Error("timeout expired"), "DATABASE_UNREACHABLE"],
    [new Error("Connection terminated due to connection timeout"), "DATABASE_UNREACHABLE"],
    [new Error("Connection terminated unexpectedly"), "DATABASE_UNREACHABLE"],
    [new Error("The server does not support SSL connections"), "DATABASE_UNREACHABLE"],
    [new Error("timeout exceeded when trying to connect"), "OVERLOADED"],
    [new Error("Query read timeout"), "TIMED_OUT"],
    [new Error("Cannot use a pool after calling end on the pool"), "SHUTTING_DOWN"],
  ])("maps %s to %s with its cause and a full sentence", (error, code) => {
    const fault = toDatabaseFault(error, target);
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code, cause: error, retry: true });
    expect((fault as Fault).message).toMatch(/^[A-Z].*\.$/);
  });

  it("returns errors about data unchanged", () => {
    for (const error of [
      fromServer("23505"),
      fromServer("42P01"),
      fromServer("22012"),
      new TypeError("mine"),
    ]) {
      expect(toDatabaseFault(error, target)).toBe(error);
      expect(isConnectionBroken(error)).toBe(false);
    }
  });

  it("knows whether the connection can be reused", () => {
    expect(isConnectionBroken(fromServer("57P01", "", "FATAL"))).toBe(true);
    expect(isConnectionBroken(fromServer("26000"))).toBe(true);
    expect(isConnectionBroken(fromSystem("ECONNRESET"))).toBe(true);
    expect(isConnectionBroken(new Error("Query read timeout"))).toBe(true);
    expect(isConnectionBroken(fromServer("40001"))).toBe(false);
    expect(isConnectionBroken(fromServer("57014"))).toBe(false);
  });

  it("keeps the SQLSTATE inside a Fault", () => {
    expect(sqlState(toDatabaseFault(fromServer("40001"), target))).toBe("40001");
    expect(sqlState(fromServer("23505"))).toBe("23505");
    expect(sqlState(new Error("none"))).toBeUndefined();
  });
});
