"""The words that the corpus is made of. Held-out words are in heldout.py, which nothing here imports."""

ANIMALS = """fox owl bear rabbit mouse hedgehog otter badger crow squirrel turtle cat dog frog heron wolf deer goose duck
hen pig cow horse goat sheep donkey lion tiger elephant giraffe monkey parrot penguin whale dolphin seal crab snail bee
ant spider butterfly beaver mole bat eagle swan robin sparrow lizard snake camel kangaroo panda koala fish octopus
kitten puppy pony lamb dragon""".split()

PEOPLE = """girl boy knight princess prince king queen pirate wizard witch robot sailor baker farmer painter teacher
doctor pilot astronaut fisherman gardener giant ghost clown detective tailor shepherd miller cook student
grandmother grandfather fairy elf inventor""".split()

HEROES = ANIMALS + PEOPLE

# Things by what they are good for: the kind decides what happens in a story.
THINGS = {
    "light": "lantern lamp candle torch star lighthouse firefly".split(),
    "music": "drum whistle bell flute guitar piano violin trumpet song harp".split(),
    "food": "cake apple cookie pie pumpkin pancake sandwich carrot lemon pear cherry strawberry cheese egg potato "
    "biscuit banana tomato onion mushroom nut pizza soup".split(),
    "travel": "boat bicycle train balloon sledge ship car wagon raft bus rocket kite plane canoe".split(),
    "container": "basket box bag bottle chest suitcase bucket jar cup pot barrel backpack pocket teapot".split(),
    "tool": "key hammer ladder rope spade broom brush needle fork spoon saw net hook shovel axe".split(),
    "toy": "ball doll puzzle marble yo-yo top swing teddy kaleidoscope puppet".split(),
    "clothes": "hat scarf coat sweater glove sock shoe boot blanket button umbrella cloak shirt".split(),
    "writing": "book letter map diary pencil postcard notebook newspaper pen stamp riddle".split(),
    "looking": "telescope mirror window camera compass picture painting magnifier photo".split(),
    "place": "house castle bridge tower tent cave garden island well door tunnel cottage barn shop".split(),
    "nature": "stone flower feather tree leaf shell acorn seed rose cloud rainbow snowflake mountain river "
    "sunflower pebble".split(),
    "machine": "clock computer radio watch machine engine telephone wheel typewriter".split(),
    "treasure": "ring crown coin treasure diamond pearl necklace medal gift sword".split(),
    "theme": [
        "rain",
        "snow",
        "honey",
        "music",
        "magic",
        "friendship",
        "love",
        "the moon",
        "the sea",
        "winter",
        "summer",
        "autumn",
        "spring",
        "the wind",
        "the sun",
        "courage",
        "time",
        "space",
        "football",
        "the forest",
        "school",
        "home",
        "night",
        "water",
        "luck",
        "Christmas",
        "colours",
        "hope",
        "sleep",
        "fire",
    ],
}
KIND = {thing: kind for kind, things in THINGS.items() for thing in things}

NAMES = """Mira Tomas Lena Oskar Ines Paul Nora Felix Ada Milo Vera Hugo Ruth Ivo Elsa Jonas Clara Ben Lucy Max Anna Leo
Emma Sam Rosa Tim Ella Noah Maya Otto Ida Finn Alice Karl Greta Jack""".split()
GIVEN = """Anna Ben Clara David Emma Frank Gina Henry Irene Jack Kate Luke Maria Nick Olivia Peter Rita Simon Tina Victor
Wendy Tom Sarah Mark Julia Alex Laura Daniel Sophie Martin Eva George Helen Chris Lisa Robert Nina Oliver Mary James
Susan Mike Zoe Adam""".split()
MOODS = "curious brave cheerful gentle clever sleepy careful kind".split()
PLACES = [
    "near the old mill",
    "at the edge of the forest",
    "by the river",
    "in a small village",
    "on a green hill",
    "by the harbour",
    "behind the library",
    "in a quiet garden",
]
SETTINGS = [
    "in the mountains",
    "in a big city",
    "by the sea",
    "in the desert",
    "in the jungle",
    "on a farm",
    "on the moon",
    "in a castle",
    "in the snow",
    "on an island",
    "under the sea",
    "in space",
    "in a forest",
    "in a school",
]
COLOURS = "red blue green yellow orange purple pink brown black white grey gold silver".split()
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()

CITIES = """London Paris Berlin Madrid Rome Vienna Prague Warsaw Oslo Stockholm Helsinki Copenhagen Dublin Lisbon Athens
Budapest Brussels Amsterdam Zurich Geneva Munich Hamburg Cologne Milan Naples Venice Turin Seville Porto Lyon Nice Bergen
Boston Chicago Denver Seattle Dallas Miami Toronto Montreal Vancouver Lima Quito Bogota Santiago Cairo Nairobi Lagos Accra
Tunis Delhi Mumbai Tokyo Osaka Kyoto Seoul Beijing Shanghai Hanoi Manila Sydney Perth Auckland Istanbul Dubai Bristol Leeds
York Oxford Glasgow Bern Basel Graz Krakow Riga Tallinn Vilnius Sofia Belgrade Zagreb""".split()

CAPITALS = {
    "France": "Paris",
    "Germany": "Berlin",
    "Spain": "Madrid",
    "Italy": "Rome",
    "Japan": "Tokyo",
    "Canada": "Ottawa",
    "Norway": "Oslo",
    "Sweden": "Stockholm",
    "Finland": "Helsinki",
    "Poland": "Warsaw",
    "Austria": "Vienna",
    "Greece": "Athens",
    "Portugal": "Lisbon",
    "Ireland": "Dublin",
    "Egypt": "Cairo",
    "Kenya": "Nairobi",
    "Peru": "Lima",
    "Chile": "Santiago",
    "Cuba": "Havana",
    "India": "New Delhi",
    "China": "Beijing",
    "Denmark": "Copenhagen",
    "Hungary": "Budapest",
    "Belgium": "Brussels",
    "England": "London",
    "Scotland": "Edinburgh",
    "Russia": "Moscow",
    "Turkey": "Ankara",
    "Brazil": "Brasília",
    "Argentina": "Buenos Aires",
    "Mexico": "Mexico City",
    "Australia": "Canberra",
    "Switzerland": "Bern",
    "the Netherlands": "Amsterdam",
    "the United States": "Washington",
    "the United Kingdom": "London",
    "South Korea": "Seoul",
    "Thailand": "Bangkok",
    "Iceland": "Reykjavik",
    "Ukraine": "Kyiv",
    "Czechia": "Prague",
    "Vietnam": "Hanoi",
}

# Common words, for copying, for questions that the model declines, and for the tokenizer's pieces.
COMMON = """able about above accident account across act action active actor add address adult advice afraid after afternoon
again age agree air airport album alive alone along already always amount ancient anger angle angry animal ankle answer anxious
apartment appear area arm army around arrive arrow art article artist ask asleep atom attack attention audience aunt author
autumn avenue average awake award away baby back bacon bad bake balance ball bamboo band bank bar bark base basic bath battery
battle bay beach bean beard beat beautiful beauty bed bedroom beef before begin behave behind believe belt bench bend best better
between big bill billion biology bird birth birthday bitter blade blame blank bleed blind block blood blow board body bomb bone
bonus border boring born borrow boss both bottom bowl brain branch brand brass bread break breakfast breath brick bride bright
bring broken bronze brother brush bubble budget build building bull burn bury business busy butcher butter button buy cabin cable
cactus cage calculator calendar call calm can canal cancel cancer candidate cannon capital captain carbon card care career
careful carpet carry cart carve case cash catch cause ceiling cell cellar center central century ceremony chain chair chalk chance
change chapter charge charm chase cheap check cheek chemistry chess chicken chief child chimney chin chip chocolate choice
choose church cigar cinema circle circus citizen city civil claim class classic clay clean clear clerk clever click cliff climate
climb clinic close closet cloth cloudy club coach coal coast code coffee cold collar collect college colour comb comfort comic
common company compare competition complex concert concrete condition contract control cook cool copper copy corn corner
correct cost cotton cough count country couple course court cousin cover cradle craft crash crazy cream create credit crime
crisis crop cross crowd cruel cry culture cupboard cure curious current curtain curve custom customer cut cycle damage dance danger
dangerous dark data date daughter day dead deal dear death debate debt decade decide deep defence degree delay deliver demand
democracy dentist depend depth describe desert design desk detail develop device diet different difficult dig digital dinner dinosaur
direct dirt dirty disaster discover discuss disease dish distance divide divorce dolphin dollar dome double doubt dough down dozen
draw drawer dream dress drink drive driver drop drug dry dust duty each ear early earn earth earthquake east easy eat echo economy
edge education effect effort eight either elbow election electric electricity elevator else email emotion empire employer empty end
enemy energy engineer enjoy enough enter entrance envelope equal error escape essay evening event ever every evil exact exam
example excellent exchange excited excuse exercise exist expensive expert explain explode extra eye face fact factory fail
fair fall false fame family famous fan far fashion fast fat father fault favour fear feast feed feel fence festival fever few field
fight figure file fill film final find finger finish fireplace firm first fit fix flag flame flash flat flavour flight
float flood floor flour flow flu fly foam fog fold follow food fool foot force foreign forest forget forgive form fortune forward
fossil fountain four frame free freedom freeze fresh fridge friend front frozen fruit fuel full fun funeral funny fur furniture future
galaxy gallery game garage garbage garlic gas gate general generous genius gentle geography ghost giant ginger give glacier glad
glass globe glue goal gold golf good government grain grammar grand grape graph grass gravity great green greet grey grill
ground group grow guard guess guest guide guilty guitar gun gym habit hair half hall hand handle happen happy hard harm harvest hate head
health healthy hear heart heat heaven heavy heel height helicopter hell helmet help hero hide high highway hill hint history hobby
hold hole holiday honest hope hospital host hot hotel hour huge human humble humour hungry hunt hurry hurricane hurt husband ice idea
ideal illness image imagine import income industry infinity injury ink insect inside instrument insurance interest internet
interview invent invest invite iron island issue jacket jail jam jazz jealous jeans jewel job join joke journey joy judge juice
jump jungle junior jury just justice keep kettle kick kidney kill kind kingdom kiss kitchen knee knife knock knot know knowledge label
labour lake land landscape language laptop large laser last late laugh laundry law lawn lawyer layer lazy lead leader learn leather
leave lecture left leg legal legend lemon length lesson level library licence lie life lift light lightning like limit line lion lip
liquid list listen literature litre little live liver loan local lock logic lonely long look lose lottery loud love low loyal lucky lunch
lung luxury magazine magnet mail main make male manage manager manner marathon marble march market marriage mask mass master match
material mathematics matter mayor meal mean meaning measure meat mechanic media medicine meet melody melon melt member memory menu
message metal meteor method middle midnight mile military milk million mind mine mineral minister minute miracle miss mission
mistake mix mobile model modern moment money month mood moral morning mother motor mouse mouth move movie mud muscle museum mushroom
mustard mystery myth nail name narrow nation nature near neat neck need neighbour nephew nerve nest net never new news next niece
night nine noble noise noodle normal north nose note nothing notice novel now number nurse oak ocean odd offer office
officer oil old olive one open opera opinion opposite orange orbit orchestra order organ origin other oven over owner oxygen
oyster pack page pain paint pair palace palm pan panic paper parade parent park parliament part partner party pass passenger
passport past path patience patient pattern pay peace peak peasant pepper perfect perfume period permit person pet philosophy
physics piano pick picnic piece pilot pipe pitch place plain plan planet plant plastic plate play player pleasant please plenty
plot plumber poem poet poison police policy polite politics pollution pond pool poor popular population pork port position positive
possible post powder power practice praise pray prepare present president press pressure pretty price pride priest print prison
private prize problem process produce professor profit program project promise proof proper protect protein protest proud prove
public pull pump punish pupil pure purpose push put pyramid quality quantum quarrel quarter question quick quiet quite rabbit race
radar railway raise ram random rare raw ray reach read ready real reason recipe record recycle referee reform refuse region
relax religion remember rent repair repeat report republic rescue research respect rest restaurant result return revolution
reward rhythm ribbon rice rich ride right ripe rise risk rival road roast rob rock role roof room root rough round route royal rubber
rude rug rugby ruin rule run rush sad saddle safe sail salad salary sale salmon salt same sand satellite sauce sausage save scale scene
science scientist score scream screen sculpture sea search season seat second secret secretary section security see sell
send sense sentence serious servant service seven several shade shadow shake shallow shame shape share shark sharp shave sheet
shelf shelter shine shock shoot shore short shoulder shout show shower shut shy sick side sight sign signal silence silent silk silly
simple sing single sink sister site situation six size skate skeleton ski skill skin skirt skull sky sleeve slice slide slim
slow small smart smell smile smoke smooth snack soap soccer social society soft software soil soldier solid solve some son soon sorry
sort soul sound sour south space spare spark speak special speech speed spell spend sphere spice spicy spider spin spirit sponge
sport spring square stable stadium staff stage stairs stamp stand start state station statue stay steak steal steam steel step
stick still stock stomach stop storage store storm story stove straight strange stranger straw stream street strength stress
strike string strong structure struggle stupid style subject submarine success sudden sugar suggest suit sun supper supply
support sure surface surgery surprise survive sushi sweat sweet swim switch symbol system table tail take talent talk tall tank tap
target task taste tax taxi tea team tear technology teenager temple ten tennis tent term terrible test text theatre theory thick thin
thing think thirsty thought thousand thread three throat throne throw thumb thunder ticket tidy tie tiger tight tile timber
tin tiny tip tire tired title toast tobacco today toe together toilet tomorrow tongue tonight tool tooth topic torch tornado
total touch tough tour tourist towel town toy track tractor trade tradition traffic trail train transport trap travel treat
treaty tree tribe trick trip trouble truck true trumpet trust truth try tube tulip tuna tune turkey turn twin twist two type ugly
uncle under understand uniform union unique unit universe university until upper urgent use useful usual vacation vaccine
valley value vampire van vegetable vehicle verb version victim victory video view village vinegar violence virus visit visitor
vitamin voice volcano volleyball volume vote voyage wage wait wake walk wall wallet want war warm warn wash waste water wave way weak
wealth weapon wear weather web wedding weed week weekend weight welcome west wet wheat whisper whole wide wife wild win wind wine
wing winner wire wise wish wolf wonder wood wool word work worker world worm worry worse worth wound wrap wrist write writer
wrong yard year yellow yesterday yoga young youth zero zone zoo""".split()

# Only in copying, never in a story.
COPY_ONLY = """anchor apron avocado awning badge bagel balcony banjo beetle bonnet bracelet brooch buffalo cabbage cello
chariot chestnut clover cobra coconut crane cushion daisy dagger domino eel fiddle flask fossil gazelle goblet gorilla
hammock helmet ivy jackal jellyfish kettle kiwi lantana leopard lobster locket mango maple mitten moose nettle orchid
ostrich oyster paddle peacock pelican pickle pigeon pillow plum pretzel quilt raven saddle salmon scooter
squid stork stool tambourine thimble toad trolley tulip turnip vase velvet walnut walrus weasel willow wombat yacht
zipper""".split()

ONSETS = "b c d f g h j k l m n p r s t v w z bl br ch cl cr dr fl fr gl gr pl pr sh sk sl sn st th tr wh".split()
VOWELS = "a e i o u a e i o u ai ee oo ou".split()
CODAS = ["", "", "", "n", "m", "r", "l", "t", "p", "k", "b", "d", "g", "ck", "nd", "sh", "st", "x", "zz"]


KNOWN = {*HEROES, *KIND, *COMMON, *COPY_ONLY}
# Words that the syllables above can make and that only measuring asks for.
RESERVED = set("zebra lemur tram clarinet cathedral chapel stapler".split())


def made_up(rng):
    """A word of one to three syllables that is none of the words above."""
    while True:
        syllables = rng.choices([1, 2, 3], [2, 5, 2])[0]
        word = "".join(rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(syllables)) + rng.choice(CODAS)
        if len(word) > 2 and word not in KNOWN and word not in RESERVED:
            return word


def article(noun):
    """`noun` with its indefinite article; what has none of its own stays as it is."""
    if KIND.get(noun) == "theme" or noun.split()[0] in ("the", "some", "a", "an", "my"):
        return noun
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def definite(noun):
    return noun if KIND.get(noun) == "theme" or noun.split()[0] in ("the", "some") else "the " + noun
