// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Token that answers every call with one megabyte, to exhaust whoever copies the answer.
contract BombToken {
    uint256 private constant ANSWER_BYTES = 1_048_576;

    fallback() external {
        assembly ("memory-safe") {
            return(mload(0x40), ANSWER_BYTES)
        }
    }
}
