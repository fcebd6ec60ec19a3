// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ITransactionSimulator} from "./interfaces/ITransactionSimulator.sol";

/// @title Makes the calls of a wallet one after another, and reads what they change.
contract TransactionSimulator is ITransactionSimulator {
    /// @dev Where the wallet's own code is placed. Made up, so nothing is deployed there.
    address private constant SHADOW = 0x5e87A9705ca99E12C0De1E970000000000005aD0;

    // Set while a simulation runs. Made up, so no code of a wallet uses it.
    bytes32 private constant RUNNING = keccak256("sextant.transaction-simulator.running");

    // Functions that are called at accounts with code only: an account without code would not have been asked.
    bytes4 private constant ERC721_RECEIVED = 0x150b7a02;
    bytes4 private constant ERC1155_RECEIVED = 0xf23a6e61;
    bytes4 private constant ERC1155_BATCH_RECEIVED = 0xbc197c81;
    bytes4 private constant IS_VALID_SIGNATURE = 0x1626ba7e;

    // For a view after the calls, whatever they burn; most use less.
    uint256 private constant GAS_RESERVE_PER_READ = 40_000;

    // The size of a view for which too little gas is left.
    uint256 private constant NOT_MADE = type(uint256).max - 1;

    // Writing the answer.
    uint256 private constant GAS_RESERVE = 400_000;

    /// @dev Someone calls the wallet meanwhile: it acts as it would without the simulation. The 2,300 gas that come with
    /// ether suffice, because SHADOW was touched before.
    // solhint-disable-next-line no-complex-fallback
    fallback() external payable {
        _actAsWallet();
    }

    /// @dev Ether arrives as it would without the simulation.
    receive() external payable {
        _actAsWallet();
    }

    /// @inheritdoc ITransactionSimulator
    function simulate(
        Request calldata request
    ) external returns (State memory start, Outcome[] memory outcomes, State memory end) {
        if (msg.sender != address(this) || _enter()) _actAsWallet();
        start = _read(request);
        uint256 count = request.calls.length;
        outcomes = new Outcome[](count);
        for (uint256 i = 0; i < count; ++i) outcomes[i] = _perform(request, i);
        end = _read(request);
    }

    function _enter() private returns (bool isRunning) {
        bytes32 slot = RUNNING;
        assembly ("memory-safe") {
            isRunning := sload(slot)
            sstore(slot, 1)
            // Touches it: what follows then costs little.
            pop(extcodesize(SHADOW))
        }
    }

    function _actAsWallet() private {
        if (SHADOW.code.length == 0) _actWithoutCode();
        assembly {
            calldatacopy(0x00, 0x00, calldatasize())
            let succeeded := delegatecall(gas(), SHADOW, 0x00, calldatasize(), 0x00, 0x00)
            returndatacopy(0x00, 0x00, returndatasize())
            if succeeded {
                return(0x00, returndatasize())
            }
            revert(0x00, returndatasize())
        }
    }

    // Says yes to items, and to signatures of the wallet's key: without code they would pass.
    function _actWithoutCode() private view {
        bytes4 sig = msg.sig;
        bool passes = sig == ERC721_RECEIVED ||
            sig == ERC1155_RECEIVED ||
            sig == ERC1155_BATCH_RECEIVED ||
            (sig == IS_VALID_SIGNATURE && _isSignedByWallet());
        assembly ("memory-safe") {
            mstore(0x00, sig)
            return(0x00, shl(5, passes))
        }
    }

    function _isSignedByWallet() private view returns (bool) {
        (bytes32 hash, bytes memory signature) = abi.decode(msg.data[4:], (bytes32, bytes));
        if (signature.length != 65) return false;
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
        return ecrecover(hash, v, r, s) == address(this);
    }

    function _read(Request calldata request) private view returns (State memory state) {
        uint256 count = request.accounts.length;
        state.balances = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) state.balances[i] = request.accounts[i].balance;
        count = request.reads.length;
        state.views = new View[](count);
        for (uint256 i = 0; i < count; ++i) _readOne(request.reads[i], request.gasPerRead, state.views[i]);
    }

    // Three words at most are copied back, however much the contract returns.
    function _readOne(Read calldata read, uint256 gasMax, View memory result) private view {
        result.size = NOT_MADE;
        if (gasleft() < gasMax + gasMax / 63 + GAS_RESERVE) return;
        result.size = type(uint256).max;
        address target = read.target;
        bytes calldata data = read.data;
        assembly ("memory-safe") {
            // Written beyond the memory in use and not kept.
            let free := mload(0x40)
            calldatacopy(free, data.offset, data.length)
            if staticcall(gasMax, target, free, data.length, 0x00, 0x00) {
                let size := returndatasize()
                mstore(result, size)
                if gt(size, 0x60) {
                    size := 0x60
                }
                returndatacopy(add(result, 0x20), 0x00, size)
            }
        }
    }

    function _perform(Request calldata request, uint256 index) private returns (Outcome memory outcome) {
        Call calldata call = request.calls[index];
        uint256 reserve = request.reads.length * GAS_RESERVE_PER_READ + GAS_RESERVE;
        uint256 available = gasleft() > reserve ? gasleft() - reserve : 0;
        outcome.gasGiven = available < request.gasPerCall ? available : request.gasPerCall;
        bytes memory data = call.data;
        uint256 before = gasleft();
        // The wallet itself is called as the code that it has, not as this one.
        outcome.success = call.target == address(this)
            ? _delegate(outcome.gasGiven, data)
            : _call(outcome.gasGiven, call.target, call.value, data);
        outcome.gasUsed = before - gasleft();
        outcome.returnData = _keepReturned(request.bytesMax);
    }

    function _call(
        uint256 gasMax,
        address target,
        uint256 value,
        bytes memory data
    ) private returns (bool succeeded) {
        assembly ("memory-safe") {
            succeeded := call(gasMax, target, value, add(data, 0x20), mload(data), 0x00, 0x00)
        }
    }

    function _delegate(uint256 gasMax, bytes memory data) private returns (bool succeeded) {
        assembly ("memory-safe") {
            succeeded := delegatecall(gasMax, SHADOW, add(data, 0x20), mload(data), 0x00, 0x00)
        }
    }

    function _keepReturned(uint256 bytesMax) private pure returns (bytes memory kept) {
        assembly ("memory-safe") {
            let size := returndatasize()
            if gt(size, bytesMax) {
                size := bytesMax
            }
            kept := mload(0x40)
            mstore(kept, size)
            returndatacopy(add(kept, 0x20), 0x00, size)
            mstore(0x40, and(add(add(kept, 0x3f), size), not(0x1f)))
        }
    }
}
