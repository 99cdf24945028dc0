/** What made games are furnished with. */

export type Room = "kitchen" | "bathroom" | "bedroom" | "living room";

export interface Furniture {
  name: string;
  /** How many a room has at least, and at most for each ten pieces of furniture. */
  least: number;
  most: number;
  traits: readonly ("openable" | "narrow" | "washes" | "heats" | "cools")[];
}

/** One of a game's objects. */
export interface Placed<T> {
  id: string;
  of: T;
}

export interface Thing {
  name: string;
  rooms: readonly Room[];
  traits: readonly ("bulky" | "washable" | "heatable" | "coolable" | "sliceable" | "blade")[];
}

const piece = (name: string, least: number, most: number, ...traits: Furniture["traits"]): Furniture => ({
  name,
  least,
  most,
  traits,
});

/** The sink comes first where there is one: appliances are always there. */
export const FURNITURE: Readonly<Record<Room, readonly Furniture[]>> = {
  kitchen: [
    piece("sinkbasin", 1, 1, "washes"),
    piece("microwave", 1, 1, "openable", "narrow", "heats"),
    piece("fridge", 1, 1, "openable", "cools"),
    piece("countertop", 1, 2),
    piece("cabinet", 1, 4, "openable"),
    piece("drawer", 1, 3, "openable", "narrow"),
    piece("diningtable", 0, 1),
    piece("shelf", 0, 2),
    piece("garbagecan", 0, 1),
  ],
  bathroom: [
    piece("sinkbasin", 1, 2, "washes"),
    piece("countertop", 1, 2),
    piece("cabinet", 1, 4, "openable"),
    piece("drawer", 0, 3, "openable", "narrow"),
    piece("shelf", 1, 2),
    piece("laundryhamper", 0, 1, "openable"),
    piece("toilet", 0, 1),
    piece("garbagecan", 0, 1),
  ],
  bedroom: [
    piece("bed", 1, 1),
    piece("desk", 1, 2),
    piece("sidetable", 1, 2),
    piece("drawer", 1, 4, "openable", "narrow"),
    piece("shelf", 0, 3),
    piece("dresser", 0, 1),
    piece("safe", 0, 1, "openable", "narrow"),
    piece("garbagecan", 0, 1),
  ],
  "living room": [
    piece("sofa", 1, 1),
    piece("coffeetable", 1, 1),
    piece("sidetable", 1, 3),
    piece("armchair", 0, 2),
    piece("cabinet", 0, 3, "openable"),
    piece("drawer", 0, 3, "openable", "narrow"),
    piece("shelf", 0, 3),
    piece("tvstand", 0, 1),
    piece("garbagecan", 0, 1),
  ],
};

const thing = (name: string, rooms: readonly Room[], ...traits: Thing["traits"]): Thing => ({
  name,
  rooms,
  traits,
});
const KITCHEN: readonly Room[] = ["kitchen"];
const BATHROOM: readonly Room[] = ["bathroom"];
const LIVING: readonly Room[] = ["bedroom", "living room"];

export const THINGS: readonly Thing[] = [
  thing("apple", KITCHEN, "washable", "heatable", "coolable", "sliceable"),
  thing("potato", KITCHEN, "washable", "heatable", "coolable", "sliceable"),
  thing("tomato", KITCHEN, "washable", "heatable", "coolable", "sliceable"),
  thing("bread", KITCHEN, "heatable", "coolable", "sliceable"),
  thing("lettuce", KITCHEN, "washable", "coolable", "sliceable"),
  thing("egg", KITCHEN, "washable", "heatable", "coolable"),
  thing("mug", KITCHEN, "washable", "heatable", "coolable"),
  thing("cup", KITCHEN, "washable", "heatable", "coolable"),
  thing("plate", KITCHEN, "washable", "heatable", "coolable"),
  thing("bowl", KITCHEN, "washable", "coolable"),
  thing("pan", KITCHEN, "bulky", "washable", "coolable"),
  thing("pot", KITCHEN, "bulky", "washable", "coolable"),
  thing("kettle", KITCHEN, "bulky", "washable"),
  thing("knife", KITCHEN, "washable", "blade"),
  thing("fork", KITCHEN, "washable"),
  thing("spoon", KITCHEN, "washable"),
  thing("spatula", KITCHEN, "washable"),
  thing("saltshaker", KITCHEN),
  thing("cloth", BATHROOM, "washable"),
  thing("sponge", BATHROOM, "washable"),
  thing("soapbar", BATHROOM, "washable"),
  thing("soapbottle", BATHROOM),
  thing("spraybottle", BATHROOM),
  thing("toiletpaper", BATHROOM),
  thing("towel", BATHROOM, "bulky"),
  thing("candle", ["bathroom", "living room"]),
  thing("tissuebox", ["bathroom", "living room"]),
  thing("book", LIVING),
  thing("box", LIVING, "bulky"),
  thing("cellphone", LIVING),
  thing("creditcard", LIVING),
  thing("keychain", LIVING),
  thing("laptop", LIVING, "bulky"),
  thing("newspaper", ["living room"]),
  thing("pen", LIVING),
  thing("pencil", ["bedroom"]),
  thing("pillow", LIVING, "bulky"),
  thing("remotecontrol", ["living room"]),
  thing("vase", ["living room"]),
  thing("watch", LIVING),
  thing("alarmclock", ["bedroom"]),
  thing("cd", ["bedroom"]),
];

/** A room's lamp, and what it may stand on. */
export const LAMPS: Readonly<Partial<Record<Room, { name: string; on: readonly string[] }>>> = {
  bedroom: { name: "desklamp", on: ["desk", "sidetable"] },
  "living room": { name: "floorlamp", on: ["sidetable", "coffeetable"] },
};

/** What a mini game is made of: a kitchen with nine closed pieces, and things that go into each of them or most. */
export const MINI: { furniture: readonly Furniture[]; things: readonly Thing[] } = {
  furniture: Object.entries({
    sinkbasin: 1,
    microwave: 1,
    fridge: 1,
    countertop: 1,
    cabinet: 4,
    drawer: 3,
  }).flatMap(([name, count]) =>
    new Array<Furniture>(count).fill(FURNITURE.kitchen.find((one) => one.name === name)!),
  ),
  things: THINGS.filter(({ traits }) => traits.includes("coolable") && !traits.includes("bulky")),
};
