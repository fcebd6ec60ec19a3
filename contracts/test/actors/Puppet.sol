// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Contract that makes the calls a test wants: at once, or when it is next called or paid.
contract Puppet {
    address private _target;
    uint256 private _value;
    bytes private _data;
    bool private _armed;
    bool private _insists;

    /// @notice Whether the rehearsed call was made and succeeded.
    bool public succeeded;

    /// @notice What the rehearsed call returned.
    bytes public returned;

    receive() external payable {
        _act();
    }

    fallback() external payable {
        _act();
    }

    /// @notice Makes a call now and hands on its outcome.
    function perform(address target, uint256 value, bytes calldata data) external payable returns (bytes memory) {
        (bool ok, bytes memory answer) = target.call{value: value}(data);
        if (!ok) _fail(answer);
        return answer;
    }

    /// @notice Prepares one call for the next time somebody calls in; insisting means to fail when it fails.
    function rehearse(address target, uint256 value, bytes calldata data, bool insists) external {
        (_target, _value, _data, _insists, _armed) = (target, value, data, insists, true);
    }

    function _act() private {
        if (!_armed) return;
        _armed = false;
        (succeeded, returned) = _target.call{value: _value}(_data);
        if (_insists && !succeeded) _fail(returned);
    }

    function _fail(bytes memory answer) private pure {
        assembly ("memory-safe") {
            revert(add(answer, 0x20), mload(answer))
        }
    }
}
