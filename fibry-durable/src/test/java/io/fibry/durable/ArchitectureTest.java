package io.fibry.durable;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected List<Set<String>> layers() {
    return List.of(Set.of("io.fibry.codec", "io.fibry.store.recorder"), Set.of("io.fibry.store"),
        Set.of("io.fibry.store.spi"), Set.of("io.fibry.store.MapStore"),
        Set.of("io.fibry.store.folder.StorageDirectory", "io.fibry.store.folder.StoreCheck"),
        Set.of("io.fibry.store.folder.disk"), Set.of("io.fibry.store.folder.log"),
        Set.of("io.fibry.store.folder.index", "io.fibry.store.folder.repair"),
        Set.of("io.fibry.store.folder.compaction"), Set.of("io.fibry.durable", "io.fibry.store.folder"),
        Set.of("io.fibry.durable.storage"), Set.of("io.fibry.durable.kind"),
        Set.of("io.fibry.durable.view", "io.fibry.durable.delivery"), Set.of("io.fibry.durable.turn"),
        Set.of("io.fibry.durable.SharedStoreAccess"));
  }

  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.codec",
            Set.of("Codec", "CodecException", "Format", "FormatReader", "FormatWriter", "SchemaEvolution",
                "DerivedCodec")),
        entry("io.fibry.durable",
            Set.of("Durable", "DurableContext", "EventSourcedContext", "EventView", "Idempotent",
                "ParkedMessage", "RequestStoredException", "SharedStoreAccess", "StepFailedException",
                "StepMismatchException", "StorageFailedException")),
        entry("io.fibry.store",
            Set.of("CopySummary", "FieldLossException", "MemoryStore", "StaleLifeException", "Store",
                "StoreBrokenException", "StoreUnconfirmedException", "StoreClosedException", "StoreDamagedException",
                "StoreException", "StoreFullException", "StoreInUseException", "StoreReadException",
                "StoreWriteException")),
        entry("io.fibry.store.spi",
            Set.of("HistoryCursor", "PendingWrite", "StoreBackend", "ViewOffset", "WriteInbox")),
        entry("io.fibry.store.folder", Set.of("FolderStore", "StorageDirectory", "StoreCheck")));
  }

  @Override
  protected Map<String, String> exemptDependencies() {
    return Map.ofEntries(entry("FolderStore to LogStore", FACTORY), entry("StorageDirectory to FileDisk", FACTORY),
        entry("MemoryStore to MapStore", FACTORY),
        entry("StoreBackend to StoreCopier", "copyTo runs a copy, which uses both stores as any code does"),
        entry("StoreCheck to FolderStore", "main is a program, which uses FolderStore as any code does"),
        entry("Durable to DefaultDurableBuilder", "an interface whose factory method creates the builder"),
        entry("Durable to DefaultEventView", FACTORY),
        entry("EventView to StoredViews", "a static method of the interface lists the named views of a store"),
        entry("DurableDefinition to DurableActorFactory", "the factory methods of a definition create its actors"));
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.ofEntries(
        entry(Set.of("LogHistory", "LogStore", "PendingRecord"),
            "a store, the histories that are open in it, and the records that it is storing"),
        entry(Set.of("Durable", "DurableContext", "EventSourcedContext"),
            "a definition has a handler, whose context sends messages to other definitions"),
        entry(Set.of("DefaultDurableBuilder", "DurableDefinition"),
            "a builder creates the definition, which keeps the settings of the builder"),
        entry(Set.of("DurableRuntime", "TurnContext", "TurnSteps"),
            "a loaded actor runs a turn, and the context and the steps of the turn read and store its notes"),
        entry(Set.of("DefaultEventView", "EventViewReader"),
            "a view starts its reader, which reads the events as the view defines"),
        entry(Set.of("Sampler", "Shape"), "a shape writes a sample of its values, which a sampler collects"),
        entry(Set.of("AnswerCodecs", "Codec", "DerivedCodec"),
            "the factory methods of the interface create its implementations"),
        entry(Set.of("ActorLocation", "Relocations"), "relocations give the positions to which a location moves"));
  }
}
