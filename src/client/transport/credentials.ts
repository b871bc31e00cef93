/** Who a client is. */
export interface Credential {
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
  /** A client certificate and its key in PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** Supplies the credential of each request. */
export interface Credentials {
  current(): Promise<Credential>;
  /** Reports that the server answered 401. Returns whether another credential may be had, with which to try again. */
  reject(credential: Credential): boolean;
}
