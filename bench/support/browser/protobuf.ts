/** As much of protocol buffers as an ONNX graph needs: messages as bytes. */
export type Message = Uint8Array;

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Uint8Array.of(...bytes, Number(rest));
}

export const integer = (field: number, value: number | bigint): Message =>
  joined([varint(field << 3), varint(value)]);

export const float = (field: number, value: number): Message =>
  joined([varint((field << 3) | 5), new Uint8Array(Float32Array.of(value).buffer)]);

/** A text, bytes or a message inside another. */
export function bytes(field: number, value: string | Uint8Array): Message {
  const content = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return joined([varint((field << 3) | 2), varint(content.length), content]);
}
