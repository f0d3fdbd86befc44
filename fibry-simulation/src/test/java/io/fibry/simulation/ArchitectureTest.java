package io.fibry.simulation;

import static java.util.Map.entry;

import io.fibry.support.ArchitectureRules;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The structure of the module: its layers, its public types, and its cycles. */
class ArchitectureTest extends ArchitectureRules {
  @Override
  protected List<Set<String>> layers() {
    return List.of(Set.of("sun.net"), Set.of("io.fibry.simulation.tap"), Set.of("io.fibry.simulation.agent"),
        Set.of("io.fibry.simulation.run"), Set.of("io.fibry.simulation.io"), Set.of("io.fibry.simulation"));
  }

  @Override
  protected Map<String, Set<String>> publicTypes() {
    return Map.ofEntries(
        entry("io.fibry.simulation",
            Set.of("Faults", "SchedulingPolicy", "SimulatedNetwork", "SimulatedNode", "SimulatedTest", "Simulation",
                "SimulationFailure", "SmallMailboxes", "YieldPoints")),
        entry("io.fibry.simulation.agent", Set.of("Agent", "AgentAttacher")),
        entry("io.fibry.simulation.io", Set.of("Network", "NodeDisk")),
        entry("io.fibry.simulation.run",
            Set.of("Decisions", "FailureDomain", "FaultInjector", "FaultKind", "Invariants", "LivingThreads",
                "MailboxLimiter", "MessageTrace", "RunEvents", "RunFailure", "SimulatedClock", "SimulatedThread",
                "SimulationCarrier", "SimulationRun", "ThreadChooser", "ThreadReport", "VirtualThreadInternals")),
        entry("io.fibry.simulation.tap",
            Set.of("ClockTap", "DelayTap", "JdkInternals", "MachineLookup", "PoolTap", "RandomTap", "SimulatedMachine",
                "SimulationThread", "RefusingSocket", "SocketTap", "ThreadTap")),
        entry("sun.net", Set.of("PlatformSocketImpl")));
  }

  @Override
  protected Map<Set<String>, String> cycles() {
    return Map.ofEntries(
        entry(Set.of("Network", "SimulatedSocket", "SocketPipe"),
            "a network knows its servers and connections, which ask it for latencies and partitions"),
        entry(Set.of("ProgramRun", "SeedSearch", "Simulation"),
            "Simulation.run starts the search for a failing seed, which runs the program, which gets a Simulation"),
        entry(Set.of("ClassPatcher", "RedirectTable", "ThreadTypes"),
            "the tables of calls that are redirected, and the code that redirects them"),
        entry(Set.of("SimulatedTest", "SimulationExtension"), "an annotation names the JUnit extension that runs it"));
  }
}
