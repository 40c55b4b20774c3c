import { element, setText } from './dom.ts';

const KEY = 'plimsoll-theme';
const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** Dark or light: as the system has it, until the button says otherwise. */
export class ThemeSwitch {
  readonly #button: HTMLElement;
  readonly #onChange: () => void;
  #theme: Theme;

  /** @param onChange colours are other ones now */
  constructor(button: HTMLElement, onChange: () => void) {
    this.#button = button;
    this.#onChange = onChange;
    this.#theme = THEMES.find((theme) => theme === remembered()) ?? 'auto';
    button.addEventListener('click', () => this.#next());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onChange);
    this.#apply();
  }

  #next(): void {
    this.#theme = THEMES[(THEMES.indexOf(this.#theme) + 1) % THEMES.length] ?? 'auto';
    remember(this.#theme);
    this.#apply();
    this.#onChange();
  }

  #apply(): void {
    document.documentElement.dataset['theme'] = this.#theme;
    setText(this.#button, `Theme: ${this.#theme}`);
  }
}

/** A browser may be told to keep nothing; then reading and writing throw. */
function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it holds until the page is loaded again
  }
}

/** What a colour of the style sheet comes to now. @param name of a custom property */
export function colorOf(name: string): string {
  const probe = element('span', { hidden: '' });
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
