// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Makes the calls of a wallet one after another, and reads what they change.
/// @dev Meant to be placed at the address of the wallet by state override, for one eth_call from the wallet to itself:
/// each contract then sees the wallet as the sender. Code that the wallet has itself is placed at SHADOW, and runs for
/// each caller of the wallet meanwhile; without any, the wallet takes every call and does
/// nothing, but accepts items and signatures of its key, for which an account without code is not asked.
interface ITransactionSimulator {
    /// @notice One view.
    /// @param target Contract to read.
    /// @param data Calldata.
    struct Read {
        address target;
        bytes data;
    }

    /// @notice One transaction of the wallet.
    /// @param target Contract or account to call.
    /// @param value Wei to send.
    /// @param data Calldata.
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    /// @notice What to read and to do.
    /// @param accounts Accounts whose native balance is read.
    /// @param reads Views to read before and after.
    /// @param calls Calls to make, in order.
    /// @param gasPerRead Most gas that a view may use.
    /// @param gasPerCall Most gas that a call may use.
    /// @param bytesMax Most bytes to keep of what a call returns.
    struct Request {
        address[] accounts;
        Read[] reads;
        Call[] calls;
        uint256 gasPerRead;
        uint256 gasPerCall;
        uint256 bytesMax;
    }

    /// @notice What a view returned.
    /// @param size Bytes that it returned; the largest number for one that failed, and one less for one for which
    /// too little gas was left.
    /// @param first The first word.
    /// @param second The second word.
    /// @param third The third word.
    struct View {
        uint256 size;
        uint256 first;
        uint256 second;
        uint256 third;
    }

    /// @notice What was read at one moment.
    /// @param balances Native balances of the accounts.
    /// @param views What the views returned.
    struct State {
        uint256[] balances;
        View[] views;
    }

    /// @notice What a call did.
    /// @param success Whether it succeeded.
    /// @param gasGiven Gas that it could use.
    /// @param gasUsed Gas that it used, without the base cost of a transaction.
    /// @param returnData The beginning of what it returned or reverted with.
    struct Outcome {
        bool success;
        uint256 gasGiven;
        uint256 gasUsed;
        bytes returnData;
    }

    /// @notice Reads, makes the calls, and reads again. Only the wallet itself gets in, and once.
    /// @param request What to read and to do.
    /// @return start What the views returned before the calls.
    /// @return outcomes One per call.
    /// @return end What they returned after the calls.
    function simulate(
        Request calldata request
    ) external returns (State memory start, Outcome[] memory outcomes, State memory end);
}
