/** Saves a drawing of the page as SVG or PNG, or copies it. */
import { useRef, useState } from "react";
import { type Drawn, type Picture, picture } from "./picture.ts";
import { copyPicture, PICTURE_FORMATS, savePicture } from "./save-picture.ts";

export function SaveMenu({
  what,
  fileName,
  picture: drawn,
}: {
  /** The drawing's title: part of the buttons' names. */
  what: string;
  /** Without its ending. */
  fileName: string;
  /** Null while nothing is drawn. */
  picture: () => Drawn | null;
}) {
  const [said, setSaid] = useState("");
  const menu = useRef<HTMLDetailsElement>(null);
  const act = async (work: (made: Picture) => Promise<string>): Promise<void> => {
    const now = drawn();
    if (now === null) return;
    setSaid(await work(picture(now)));
  };
  return (
    <details
      className="save-menu"
      ref={menu}
      onToggle={() => setSaid("")}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.preventDefault();
        menu.current.open = false;
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary aria-label={`Save “${what}”`}>Save</summary>
      <div className="save-items">
        {PICTURE_FORMATS.map((format) => (
          <button
            key={format}
            type="button"
            aria-label={`Save “${what}” as ${format}`}
            onClick={() => void act((made) => savePicture(made, format, fileName))}
          >
            {format}
          </button>
        ))}
        <button type="button" aria-label={`Copy “${what}” as an image`} onClick={() => void act(copyPicture)}>
          Copy
        </button>
        <span className="note" role="status">
          {said}
        </span>
      </div>
    </details>
  );
}
