// The messages in which rows travel to a COPY … FROM STDIN, in whichever format.

/** A message begins with its kind, one byte, and its length, four bytes, which counts itself but not the kind. */
export const COPY_HEADER_BYTES = 5;

/** Below this, the cost per message dominates; far above it, nothing more is gained. */
export const COPY_MESSAGE_BYTES = 64 * 1024;

const KIND = "d".charCodeAt(0);

/** Fills in the header of a message that has room for it. By us, because the driver would copy every byte once more. */
export function writeCopyHeader(message: Buffer): Buffer {
  message[0] = KIND;
  message.writeUInt32BE(message.length - 1, 1);
  return message;
}
