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
  record Pay(int cents) implements Request<Pay, Integer> {} // negative: a debit

  static final Durable<Pay> PURSE = Durable.kind("purse", Pay.class).state(100).handler((balance, pay, context) -> {
    context.reply(pay, balance + pay.cents()); // sent when the turn is on disk
    return balance + pay.cents();
  });

  /** Torn on purpose: two turns. The fix is one turn that sends the credit: {@link Transfer}. */
  static int transfer(ActorScope scope, StorageDirectory disk, int amount) {
    try (var store = FolderStore.open(disk, options -> options.withSegmentBytes(1 << 16));
        var ada = PURSE.newActor(scope.named("ada"), store);
        var bob = PURSE.newActor(scope.named("bob"), store)) {
      return ada.ask(new Pay(-amount)) + bob.ask(new Pay(amount));
    }
  }

  public static void main(String[] args) {
    var disk = CrashDisk.empty();
    try (var scope = ActorSystem.openScope("bank")) {
      int total = 0;
      for (int i = 0; i < 300; i++) total = transfer(scope, disk, 1);
      System.out.println("real threads: after 300 transfers there are " + total + " cents");
    }
    try {
      Simulation.run(sim -> {
        var node = sim.node("bank");
        node.start("transfer", () -> transfer(node.openScope("bank"), node.disk(), 30));
        // the crash comes before, during or after the transfer
        for (int i = sim.random().nextInt(50); i > 0; i--) sim.yieldPoint();
        node.crash();
        int total = transfer(sim.scope(), node.restart().disk(), 0);
        if (total != 200) throw new AssertionError("after a power cut there are " + total + " cents");
      });
    } catch (SimulationFailure failure) {
      System.out.println(failure.getMessage());
    }
  }
}
