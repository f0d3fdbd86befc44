package io.fibry.examples;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.simulation.Simulation;
import io.fibry.simulation.SimulationFailure;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.StorageDirectory;
import io.fibry.test.CrashDisk;

/** A debit and a credit are two turns: a simulation finds the power cut between them. */
class TornTransfer {
  record Pay(int cents) implements Request<Pay, Integer> {}

  static final Durable<Pay> PURSE = Durable.kind("purse", Pay.class).state(100).handler((cents, pay, context) -> {
    context.reply(pay, cents + pay.cents()); // leaves when the turn is on disk
    return cents + pay.cents();
  });

  /** The mend: one turn, which sends the credit itself, as the turn of Transfer does. */
  static int transfer(ActorScope scope, StorageDirectory disk, int cents) {
    try (var store = FolderStore.open(disk, options -> options.withSegmentBytes(1 << 16));
        var ada = PURSE.newActor(scope.named("ada"), store);
        var bob = PURSE.newActor(scope.named("bob"), store)) {
      return ada.ask(new Pay(-cents)) + bob.ask(new Pay(cents));
    }
  }

  public static void main(String[] args) {
    var disk = CrashDisk.empty();
    try (var scope = ActorSystem.openScope("bank")) {
      int cents = 0;
      for (int i = 0; i < 300; i++) cents = transfer(scope, disk, 1);
      System.out.println("real threads: after 300 transfers there are " + cents + " cents");
    }
    try {
      Simulation.run(sim -> {
        var node = sim.node("bank");
        node.start("transfer", () -> transfer(node.openScope("bank"), node.disk(), 30));
        for (int i = sim.random().nextInt(50); i > 0; i--) sim.yieldPoint(); // before it, during it, after it
        node.crash();
        int cents = transfer(sim.scope(), node.restart().disk(), 0);
        if (cents != 200) throw new AssertionError("after a power cut there are " + cents + " cents");
      });
    } catch (SimulationFailure found) {
      System.out.println(found.getMessage());
    }
  }
}
