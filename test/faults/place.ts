/** Where a backend listens. */
export interface Place {
  readonly address: string;
  /** 0: the kernel's choice. */
  readonly port: number;
}
