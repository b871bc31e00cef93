/** Encodes a protobuf message with these length-delimited fields: strings or messages. */
export function encodeFields(fields: readonly (readonly [tag: number, value: string | Uint8Array])[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([tag, value]) => {
      const bytes = Buffer.from(value as string);
      return [varint(tag * 8 + 2), varint(bytes.length), bytes];
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
