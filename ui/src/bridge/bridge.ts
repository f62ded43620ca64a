import { Channel } from "@tauri-apps/api/core";
import { t } from "../language/text";
import {
  type ActionId,
  type AppEvent,
  type Attachment,
  type BenchmarkFormat,
  type BenchmarkPlan,
  type CallAnswer,
  type CallId,
  type ChatCursor,
  type ChatSettings,
  type ComparisonProgress,
  type ComparisonSource,
  type ConversionChoice,
  commands,
  type Destination,
  type ErrorReport,
  type ExportedPictures,
  type ExportFormat,
  type GenerationChange,
  type GenerationSettings,
  type HubSettings,
  type KvPrecision,
  type LendingSettings,
  type LocalApiSettings,
  type MenuState,
  type Message,
  type MessagePicture,
  type ModelInfo,
  type PastedFile,
  type PictureDetail,
  type PlaceKind,
  type Preferences,
  type Preset,
  type Project,
  type Prompt,
  type RemoteFilter,
  type ReplyEvent,
  type SearchScope,
  type Sent,
  type ServerAnswer,
  type ServerForm,
  type SettingsPage,
  type Snapshot,
  type UnsentEdit,
} from "./bindings";

/** The shell refused or could not answer. */
export class ShellError extends Error {
  constructor(readonly report: ErrorReport) {
    super(report.message);
  }
}

/** What went wrong, in the shell's words where it has any. */
export function reportOf(error: unknown): ErrorReport {
  if (error instanceof ShellError) return error.report;
  return {
    code: "shell_unreachable",
    message: t("state-unreachable", { why: error instanceof Error ? error.message : String(error) }),
    hint: t("state-unreachable.hint"),
  };
}

type Answer<T> = { status: "ok"; data: T } | { status: "error"; error: ErrorReport };

async function answered<T>(answer: Promise<Answer<T>>): Promise<T> {
  const result = await answer;
  if (result.status === "ok") return result.data;
  const { error } = result;
  throw typeof error === "object" && error !== null && "message" in error ? new ShellError(error) : error;
}

/** Where a reply that begins is put, and then what is written. */
export interface ReplyListener<T> {
  begun(answer: T): void;
  event(message: number, event: ReplyEvent): void;
}

/** Starts what speaks on a channel. What comes before the shell has answered waits, so that it finds its reply. */
async function listen<T>(
  start: (events: Channel<ReplyEvent>) => Promise<Answer<T>>,
  message: (answer: T) => number | undefined,
  listener: ReplyListener<T>,
): Promise<void> {
  const early: ReplyEvent[] = [];
  const channel = new Channel<ReplyEvent>((event) => early.push(event));
  const answer = await answered(start(channel));
  listener.begun(answer);
  const id = message(answer);
  if (id === undefined) return;
  for (const event of early) listener.event(id, event);
  channel.onmessage = (event) => listener.event(id, event);
}

/** Changes nothing. */
const SAME: GenerationChange = {
  sampling: null,
  drafting: null,
  max_tokens: null,
  thinking: null,
  stop: null,
};

const replyOf = (sent: Sent) => sent.messages.at(-1)?.message.id;

export const shell = {
  /** What the window shows now; `onEvent` hears every change after it. */
  async watch(onEvent: (event: AppEvent) => void): Promise<Snapshot> {
    let missed: AppEvent[] = [];
    const channel = new Channel<AppEvent>((event) => missed.push(event));
    await answered(commands.subscribe(channel));
    // A change that came while the snapshot was on its way may be in it or not: ask again, a few times at most.
    for (let tries = 0; ; tries += 1) {
      missed = [];
      const snapshot = await answered(commands.snapshot());
      if (missed.length > 0 && tries < 5) continue;
      const late = missed;
      channel.onmessage = onEvent;
      if (late.length > 0) queueMicrotask(() => late.forEach(onEvent));
      return snapshot;
    }
  },

  snapshot: () => answered(commands.snapshot()),
  language: () => answered(commands.language()),
  closeWindow: () => answered(commands.closeWindow()),
  quit: () => answered(commands.quit()),
  act: (action: ActionId) => answered(commands.act(action)),
  openSettings: (page: SettingsPage | null) => answered(commands.openSettings(page)),
  setLocalApi: (settings: LocalApiSettings) => answered(commands.setLocalApi(settings)),
  takeFreePort: () => answered(commands.takeFreePort()),
  renewApiToken: () => answered(commands.renewApiToken()),
  copyForProgram: (text: string) => answered(commands.copyForProgram(text)),
  stopApiRequest: (request: string) => answered(commands.stopApiRequest(request)),
  lookForMacs: (look: boolean) => answered(commands.lookForMacs(look)),
  pairWithMac: (address: string) => answered(commands.pairWithMac(address)),
  openForPairing: () => answered(commands.openForPairing()),
  closePairing: () => answered(commands.closePairing()),
  answerPairing: (same: boolean) => answered(commands.answerPairing(same)),
  setLending: (settings: LendingSettings) => answered(commands.setLending(settings)),
  takeMacBack: () => answered(commands.takeMacBack()),
  removeLayers: (id: string) => answered(commands.removeLayers(id)),
  stopGiving: () => answered(commands.stopGiving()),
  forgetMac: (key: string) => answered(commands.forgetMac(key)),
  allowMac: (key: string, borrows: boolean) => answered(commands.allowMac(key, borrows)),
  setMacAddress: (key: string, address: string) => answered(commands.setMacAddress(key, address)),
  testMacLink: (key: string) => answered(commands.testMacLink(key)),
  spreadOutlook: (path: string) => answered(commands.spreadOutlook(path)),
  /** Loads a model over several Macs; `layers` is how many each has, in their order, null as the outlook says. */
  loadSpread: (path: string, layers: number[] | null): Promise<ModelInfo> =>
    answered(commands.loadSpread(path, layers)),
  loadAlone: (path: string): Promise<ModelInfo> => answered(commands.loadAlone(path)),
  quickQuestion: () => answered(commands.quickQuestion()),
  fitQuick: (height: number) => answered(commands.fitQuick(height)),
  compareWithOriginal: (path: string, original: string) =>
    answered(commands.compareWithOriginal(path, original)),
  goOnInWindow: (chat: number) => answered(commands.goOnInWindow(chat)),
  openChatWindow: (chat: number) => answered(commands.openChatWindow(chat)),
  unloadModel: () => answered(commands.unloadModel()),
  handedOver: () => answered(commands.handedOver()),
  setMenuState: (state: MenuState) => answered(commands.setMenuState(state)),
  openLink: (address: string) => answered(commands.openLink(address)),
  setPreferences: (preferences: Preferences) => answered(commands.setPreferences(preferences)),
  places: () => answered(commands.places()),
  crashReports: () => answered(commands.crashReports()),
  revealCrashReports: () => answered(commands.revealCrashReports()),
  hasBillOfMaterials: () => answered(commands.hasBillOfMaterials()),
  revealBillOfMaterials: () => answered(commands.revealBillOfMaterials()),
  revealPlace: (kind: PlaceKind) => answered(commands.revealPlace(kind)),
  logLines: (after: number) => answered(commands.logLines(after)),
  notices: () => answered(commands.notices()),
  noticeText: (place: number) => answered(commands.noticeText(place)),
  report: () => answered(commands.report()),
  send: (to: Destination, text: string, pictures: MessagePicture[], listener: ReplyListener<Sent>) =>
    listen((events) => commands.sendMessage(to, text, pictures, events), replyOf, listener),
  edit: (message: number, text: string, pictures: MessagePicture[], listener: ReplyListener<Sent>) =>
    listen((events) => commands.editMessage(message, text, pictures, events), replyOf, listener),
  retry: (message: number, listener: ReplyListener<Sent>) =>
    listen((events) => commands.retryReply(message, events), replyOf, listener),
  answerNow: (message: number, listener: ReplyListener<Sent>) =>
    listen((events) => commands.answerNow(message, events), replyOf, listener),
  /** Lets the person choose files and reads them. `onChosen` hears what they are called as soon as they are chosen. */
  chooseAttachments: (chat: number | null, pictures: boolean, onChosen: (names: string[]) => void) =>
    answered(commands.chooseAttachments(chat, pictures, new Channel(onChosen))),
  attachDropped: (chat: number | null, files: string[]) => answered(commands.attachDropped(chat, files)),
  attachPasted: (chat: number | null, files: PastedFile[]) => answered(commands.attachPasted(chat, files)),
  passages: (text: string, question: string, tokens: number) =>
    answered(commands.passages(text, question, tokens)),
  countTokens: (texts: string[]) => answered(commands.countTokens(texts)),
  continue: (message: number, listener: ReplyListener<Sent>) =>
    listen((events) => commands.continueReply(message, events), replyOf, listener),
  attach: (message: number, listener: ReplyListener<Message>) =>
    listen(
      (events) => commands.attach(message, events),
      (reply) => reply.id,
      listener,
    ),

  /** Answers a question about a call; once its round has no other, the reply goes on. */
  decideCall: (call: CallId, answer: CallAnswer, listener: ReplyListener<Message>) =>
    listen(
      (events) => commands.decideCall(call, answer, events),
      (reply) => reply.id,
      listener,
    ),
  callDetails: (call: CallId) => answered(commands.callDetails(call)),
  /** Answers what a server asks in the middle of a call. Of an address that means to open it. */
  answerServer: (question: number, answer: ServerAnswer) => answered(commands.answerServer(question, answer)),

  provenance: (message: number) => answered(commands.provenance(message)),
  setRevealDrafts: (reveal: boolean) => answered(commands.setRevealDrafts(reveal)),
  stop: (message: number) => answered(commands.stopReply(message)),
  newChat: (navigation: number) => answered(commands.newChat(navigation)),
  newTemporaryChat: (navigation: number) => answered(commands.newTemporaryChat(navigation)),
  keepChat: (navigation: number, chat: number) => answered(commands.keepChat(navigation, chat)),
  openChat: (navigation: number, chat: number) => answered(commands.openChat(navigation, chat)),
  showMessage: (navigation: number, message: number) => answered(commands.showMessage(navigation, message)),
  branchChat: (navigation: number, message: number) => answered(commands.branchChat(navigation, message)),
  summarise: (chat: number) => answered(commands.summariseChat(chat)),
  stopSummary: (chat: number) => answered(commands.stopSummary(chat)),
  editReply: (navigation: number, message: number, text: string) =>
    answered(commands.editReply(navigation, message, text)),
  chatPage: (tag: string | null, after: ChatCursor | null, limit: number) =>
    answered(commands.chatPage(tag, after, limit)),
  searchChats: (query: string, scope: SearchScope, limit: number) =>
    answered(commands.searchChats(query, scope, limit)),
  renameChat: (chat: number, title: string) => answered(commands.renameChat(chat, title)),
  pinChat: (chat: number, pinned: boolean) => answered(commands.pinChat(chat, pinned)),
  tagChat: (chat: number, tags: string[]) => answered(commands.tagChat(chat, tags)),
  deleteMessage: (message: number) => answered(commands.deleteMessage(message)),
  deleteChat: (chat: number) => answered(commands.deleteChat(chat)),
  undoDeletion: (deletion: number) => answered(commands.undoDeletion(deletion)),
  setDraftText: (chat: number | null, text: string, typed: string) =>
    answered(commands.setDraftText(chat, text, typed)),
  setEdit: (message: number, edit: Omit<UnsentEdit, "message"> | null) =>
    answered(commands.setEdit(message, edit?.text ?? null, edit?.pictures ?? null)),
  setDraftFiles: (chat: number | null, files: Attachment[], waiting: number) =>
    answered(commands.setDraftFiles(chat, files, waiting)),
  setDraftPictures: (chat: number | null, pictures: MessagePicture[], waiting: number) =>
    answered(commands.setDraftPictures(chat, pictures, waiting)),
  pictureView: (hash: string) => answered(commands.pictureView(hash)),
  pictureInDetail: (picture: MessagePicture, detail: PictureDetail) =>
    answered(commands.pictureInDetail(picture, detail)),
  savePicture: (hash: string, name: string) => answered(commands.savePicture(hash, name)),
  setChatSettings: (chat: number, settings: ChatSettings) =>
    answered(commands.setChatSettings(chat, settings)),
  setPrompts: (prompts: Prompt[]) => answered(commands.setPrompts(prompts)),
  importPrompts: () => answered(commands.importPrompts()),
  exportPrompts: () => answered(commands.exportPrompts()),
  clipboardText: () => answered(commands.clipboardText()),
  addPreset: (name: string, systemPrompt: string, generation: GenerationSettings | null) =>
    answered(commands.addPreset(name, systemPrompt, generation)),
  changePreset: (preset: Preset) => answered(commands.changePreset(preset)),
  deletePreset: (preset: number) => answered(commands.deletePreset(preset)),
  restorePreset: (preset: number) => answered(commands.restorePreset(preset)),
  sizeOfExportedPictures: (chat: number | null, format: ExportFormat) =>
    answered(commands.sizeOfExportedPictures(chat, format)),
  exportChats: (chat: number | null, format: ExportFormat, pictures: ExportedPictures) =>
    answered(commands.exportChats(chat, format, pictures)),
  createProject: (name: string) => answered(commands.createProject(name)),
  changeProject: (
    project: number,
    { name, instructions, settings }: Partial<Pick<Project, "name" | "instructions" | "settings">>,
  ) => answered(commands.changeProject(project, name ?? null, instructions ?? null, settings ?? null)),
  deleteProject: (project: number, withChats: boolean) =>
    answered(commands.deleteProject(project, withChats)),
  restoreProject: (project: number) => answered(commands.restoreProject(project)),
  moveChat: (chat: number, to: number | null) => answered(commands.moveChat(chat, to)),
  projectChats: (project: number) => answered(commands.projectChats(project)),
  projectTexts: (project: number, question: string, whole: number[], tokens: number, first: boolean) =>
    answered(commands.projectTexts(project, question, whole, tokens, first)),
  /** Lets the person choose files for a project. `onReading` hears what those are called that are still to be read. */
  addProjectFiles: (project: number, onReading: (names: string[]) => void) =>
    answered(commands.addProjectFiles(project, new Channel(onReading))),
  addDroppedProjectFiles: (project: number, files: string[], onReading: (names: string[]) => void) =>
    answered(commands.addDroppedProjectFiles(project, files, new Channel(onReading))),
  chooseProjectFolder: (project: number, onReading: (names: string[]) => void) =>
    answered(commands.chooseProjectFolder(project, new Channel(onReading))),
  setDroppedProjectFolder: (project: number, folder: string, onReading: (names: string[]) => void) =>
    answered(commands.setDroppedProjectFolder(project, folder, new Channel(onReading))),
  readProjectFolder: (project: number, onReading: (names: string[]) => void) =>
    answered(commands.readProjectFolder(project, new Channel(onReading))),
  leaveProjectFolder: (project: number) => answered(commands.leaveProjectFolder(project)),
  removeProjectFile: (file: number) => answered(commands.removeProjectFile(file)),
  restoreProjectFile: (file: number) => answered(commands.restoreProjectFile(file)),
  readChat: (chat: number) => answered(commands.readChat(chat)),
  savePaper: (title: string, document: string) => answered(commands.savePaper(title, document)),
  printPaper: () => answered(commands.printPaper()),
  chooseChatsFile: () => answered(commands.chooseChatsFile()),
  importChats: (paths: string[]) => answered(commands.importChats(paths)),
  restoreChats: () => answered(commands.restoreChats()),
  setSettings: (change: Partial<GenerationSettings>) =>
    answered(commands.setSettings({ ...SAME, ...change })),
  chooseModelFolder: () => answered(commands.chooseModelFolder()),
  openModel: (path: string): Promise<ModelInfo> => answered(commands.openModel(path)),
  selectModel: (path: string): Promise<ModelInfo> => answered(commands.selectModel(path)),
  setKvPrecision: (kvPrecision: KvPrecision) => answered(commands.setKvPrecision(kvPrecision)),

  library: () => answered(commands.library()),
  catalogue: (refresh: boolean) => answered(commands.catalogue(refresh)),
  searchModels: (filter: RemoteFilter, fresh: boolean) => answered(commands.searchModels(filter, fresh)),
  modelCard: (repo: string) => answered(commands.modelCard(repo)),
  downloadModel: (repo: string, conversion: ConversionChoice) =>
    answered(commands.downloadModel(repo, conversion)),
  pauseJob: (job: number) => answered(commands.pauseJob(job)),
  resumeJob: (job: number) => answered(commands.resumeJob(job)),
  cancelJob: (job: number) => answered(commands.cancelJob(job)),
  moveJob: (job: number, position: number) => answered(commands.moveJob(job, position)),
  convertModel: (path: string, conversion: ConversionChoice) =>
    answered(commands.convertModel(path, conversion)),
  qualityOffer: (path: string) => answered(commands.qualityOffer(path)),
  measuringOutlook: (path: string, text: string | null) => answered(commands.measuringOutlook(path, text)),
  measureQuality: (path: string, text: string | null) => answered(commands.measureQuality(path, text)),
  chooseMeasuredText: () => answered(commands.chooseMeasuredText()),
  tuneModel: (path: string) => answered(commands.tuneModel(path)),
  deleteModel: (path: string) => answered(commands.deleteModel(path)),
  restoreModel: (path: string) => answered(commands.restoreModel(path)),
  importModel: (path: string) => answered(commands.importModel(path)),
  chooseLibraryFolder: () => answered(commands.chooseLibraryFolder()),
  moveLibrary: (path: string) => answered(commands.moveLibrary(path)),
  setHub: (settings: HubSettings) => answered(commands.setHub(settings)),
  setHubToken: (token: string | null) => answered(commands.setHubToken(token)),
  setFitContext: (tokens: number) => answered(commands.setFitContext(tokens)),
  reveal: (path: string) => answered(commands.reveal(path)),

  benchmarks: () => answered(commands.benchmarks()),
  runBenchmark: (path: string, plan: BenchmarkPlan) => answered(commands.runBenchmark(path, plan)),
  deleteBenchmark: (measuredAt: number) => answered(commands.deleteBenchmark(measuredAt)),
  restoreBenchmark: (measuredAt: number) => answered(commands.restoreBenchmark(measuredAt)),
  exportBenchmarks: (format: BenchmarkFormat) => answered(commands.exportBenchmarks(format)),
  compare: (source: ComparisonSource, onProgress: (progress: ComparisonProgress) => void) =>
    answered(commands.compare(source, new Channel(onProgress))),
  cancelComparison: () => answered(commands.cancelComparison()),

  putToolServer: (form: ServerForm) => answered(commands.putToolServer(form)),
  removeToolServer: (slug: string) => answered(commands.removeToolServer(slug)),
  enableToolServer: (slug: string, enabled: boolean) => answered(commands.enableToolServer(slug, enabled)),
  startToolServer: (slug: string) => answered(commands.startToolServer(slug)),
  toolServerErrors: (slug: string) => answered(commands.toolServerErrors(slug)),
  importToolServers: (text: string) => answered(commands.importToolServers(text)),
  toolServerFiles: () => answered(commands.toolServerFiles()),
  importToolServerFile: (path: string) => answered(commands.importToolServerFile(path)),
  revokePermission: (permission: number) => answered(commands.revokePermission(permission)),
  stopAllTools: () => answered(commands.stopAllTools()),
  addToolFolder: () => answered(commands.addToolFolder()),
  removeToolFolder: (name: string) => answered(commands.removeToolFolder(name)),
  setToolSearch: (address: string) => answered(commands.setToolSearch(address)),
  serverOffers: () => answered(commands.serverOffers()),
  attachResource: (chat: number | null, server: string, address: string) =>
    answered(commands.attachResource(chat, server, address)),
  fillServerPrompt: (
    chat: number | null,
    server: string,
    prompt: string,
    filledIn: { [argument in string]: string },
  ) => answered(commands.fillServerPrompt(chat, server, prompt, filledIn)),
  /** Resolves once the person is done in their browser: whether they are signed in. */
  signInToServer: (slug: string) => answered(commands.signInToServer(slug)),
  giveUpSignIn: (slug: string) => answered(commands.giveUpSignIn(slug)),
  signOutOfServer: (slug: string) => answered(commands.signOutOfServer(slug)),
  callDifference: (call: CallId, changed: string | null) => answered(commands.callDifference(call, changed)),

  stored: () => answered(commands.stored()),
  removeStored: (models: boolean) => answered(commands.removeStored(models)),
  checkForUpdate: () => answered(commands.checkForUpdate()),
  installUpdate: () => answered(commands.installUpdate()),
  cancelUpdate: () => answered(commands.cancelUpdate()),
  postponeUpdate: () => answered(commands.postponeUpdate()),
};
