import type { Names } from '../../meta/index.ts';

/** The media types of lists and watches that deliver metadata only. */
export function metadataOnly({ domain }: Names): { readonly list: string; readonly watch: string } {
  const of = (kind: string) => `application/json;as=${kind};g=meta.${domain};v=v1`;
  return { list: of('PartialObjectMetadataList'), watch: of('PartialObjectMetadata') };
}
