/** The structured log. It never receives secrets. */
export interface Log {
  readonly error: (text: string, fields: { readonly [name: string]: unknown }) => void;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
  readonly info: (text: string, fields: { readonly [name: string]: unknown }) => void;
}
