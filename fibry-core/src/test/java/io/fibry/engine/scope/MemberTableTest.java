package io.fibry.engine.scope;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.engine.cell.Cell;
import io.fibry.support.Patience;
import io.fibry.testing.StressRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MemberTableTest {
  private final MemberTable table = new MemberTable();

  private static Cell namedCell(String name) {
    var cell = (Cell) ActorSystem.anonymous().newActor(message -> {});
    cell.setIdentity(name, null);
    return cell;
  }

  private List<Object> allMembers() {
    return table.allMembers();
  }

  @Test
  void newTableIsEmpty() {
    var member = new Object();

    table.freeName(member);
    table.remove(member);

    assertTrue(table.isEmpty());
    assertNull(table.findByName("a"));
    assertEquals(List.of(), allMembers());
    assertEquals(List.of(), table.membersFrom(member));
  }

  @Test
  void nameIsInUseUntilItIsFreed() {
    var firstCell = namedCell("a");
    var secondCell = namedCell("a");
    assertTrue(table.add(firstCell));

    assertFalse(table.add(secondCell));
    table.freeName(firstCell);

    assertNull(table.findByName("a"));
    assertTrue(table.add(secondCell));
    assertSame(secondCell, table.findByName("a"));
    assertEquals(List.of(firstCell, secondCell), allMembers());
    table.remove(firstCell);
    assertSame(secondCell, table.findByName("a"));
    assertEquals(List.of(secondCell), allMembers());
  }

  @Test
  void membersWhoseNamesHaveSameHashAreDistinct() {
    var firstCell = namedCell("Aa");
    var secondCell = namedCell("BB");

    assertTrue(table.add(firstCell) && table.add(secondCell));

    assertSame(firstCell, table.findByName("Aa"));
    assertSame(secondCell, table.findByName("BB"));
    table.remove(firstCell);
    assertNull(table.findByName("Aa"));
    assertSame(secondCell, table.findByName("BB"));
  }

  /**
   * Compares the table with a list of its members, while the test adds members, removes members and
   * frees names at random.
   */
  @Test
  void tableHasSameMembersAsListAfterRandomChanges() {
    long seed = StressRuns.seed();
    System.out.println("members of a scope: -Dfibry.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 20; round++) {
      var table = new MemberTable();
      var model = new ArrayList<Object>();
      var namedMembers = new ArrayList<Cell>(); // members that have not freed their names
      int maxMembers = 1 << random.nextInt(12);
      for (int step = 0; step < 4 * maxMembers; step++) {
        boolean grows = step % (2 * maxMembers) < maxMembers; // otherwise it shrinks
        if (model.isEmpty() || random.nextInt(10) < (grows ? 8 : 2)) {
          var name = "name" + random.nextInt(maxMembers);
          var member = random.nextBoolean() ? new Object() : namedCell(name);
          boolean nameInUse =
              member instanceof Cell && namedMembers.stream().anyMatch(cell -> cell.label().equals(name));
          assertEquals(!nameInUse, table.add(member));
          if (nameInUse) continue;
          model.add(member);
          if (member instanceof Cell cell) namedMembers.add(cell);
        } else {
          var member = model.get(random.nextInt(model.size()));
          if (random.nextInt(3) == 0) table.freeName(member);
          else {
            table.remove(member);
            model.remove(member);
          }
          namedMembers.remove(member);
        }
        assertEquals(model.isEmpty(), table.isEmpty());
        if (step % 64 > 0) continue;
        assertEquals(model, table.allMembers());
        for (var cell : namedMembers) assertSame(cell, table.findByName(cell.label()));
        if (model.isEmpty()) continue;
        int from = random.nextInt(model.size());
        assertEquals(model.subList(from, model.size()), table.membersFrom(model.get(from)));
      }
    }
  }

  /** The test would take minutes if the members were not spread over the whole table. */
  @Test
  void millionMembersAreAddedAndRemovedQuickly() {
    var members = new Object[1_000_000];
    for (int i = 0; i < members.length; i++)
      table.add(members[i] = i % 10 == 0 ? namedCell("member" + i) : new Object());

    for (var member : members) table.remove(member);

    assertTrue(table.isEmpty());
  }

  /** Each thread adds members and removes half of them. Several threads compete for each name. */
  @Test
  void concurrentThreadsLoseNoMembers() {
    int threads = 4;
    int membersPerThread = 5_000;
    var remainingMembers = new ConcurrentLinkedQueue<>();
    var addedNames = new AtomicInteger();
    var threadsDone = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) Patience.startFiber(() -> {
      for (int i = 0; i < membersPerThread; i++) {
        var member = new Object();
        table.add(member);
        if (i % 2 == 0) table.remove(member);
        else remainingMembers.add(member);
        if (i % 50 > 0) continue;
        var cell = namedCell("n" + i);
        if (!table.add(cell)) continue;
        addedNames.incrementAndGet();
        remainingMembers.add(cell);
      }
      threadsDone.countDown();
    });
    Patience.await(threadsDone);

    assertEquals(membersPerThread / 50, addedNames.get());
    assertEquals(remainingMembers.size(), allMembers().size());
    assertEquals(Set.copyOf(remainingMembers), Set.copyOf(allMembers()));
    remainingMembers.forEach(table::remove);
    assertTrue(table.isEmpty());
    assertEquals(List.of(), allMembers());
  }
}
