package io.fibry.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class CodecTest {
  sealed interface Tree<T> {}

  record Leaf<T>(T value) implements Tree<T> {}

  record Branch<T>(Tree<T> left, Tree<T> right) implements Tree<T> {}

  record Forest(List<Tree<String>> trees) {}

  enum Color {
    RED, GREEN {
      @Override
      public String toString() {
        return "grass";
      }
    }
  }

  sealed interface Shape {}

  enum Plain implements Shape {
    EMPTY
  }

  sealed interface Round extends Shape {}

  record Circle(int radius) implements Round {}

  record Box(Optional<Color> color, Set<Shape> inside) implements Shape {}

  private static <T> void survives(Class<T> type, T value) {
    var codec = Codec.of(type);

    assertEquals(value, codec.decode(codec.encode(value)));
  }

  private static String refused(Class<?> type) {
    return assertThrows(IllegalArgumentException.class, () -> Codec.of(type)).getMessage();
  }

  // ---- types

  @Test
  void aTypeMayContainItself() {
    survives(Forest.class, new Forest(List.of(new Branch<>(new Leaf<>("a"), new Leaf<>("b")), new Leaf<>("c"))));
  }

  @Test
  void aChoiceMayBeAnEnumOrAnotherChoice() {
    survives(Shape.class,
        new Box(Optional.of(Color.GREEN), Set.of(new Circle(3), Plain.EMPTY, new Box(Optional.empty(), Set.of()))));
  }

  @Test
  void decodedCollectionsAreImmutable() {
    record Kept(List<Integer> list, Set<Integer> set, Map<String, Integer> map) {}
    var codec = Codec.of(Kept.class);
    var kept = new Kept(new ArrayList<>(List.of(1)), Set.of(2), new HashMap<>(Map.of("x", 3)));

    var read = codec.decode(codec.encode(kept));

    assertEquals(kept, read);
    assertThrows(UnsupportedOperationException.class, () -> read.list.add(4));
    assertThrows(UnsupportedOperationException.class, () -> read.set.add(4));
    assertThrows(UnsupportedOperationException.class, () -> read.map.put("y", 4));
  }

  @Test
  void aMapKeepsItsOrder() {
    record Ordered(Map<Integer, String> names) {}
    var names = new LinkedHashMap<Integer, String>();
    for (int i = 100; i > 0; i--) names.put(i, "n" + i);
    var codec = Codec.of(Ordered.class);

    assertEquals(List.copyOf(names.keySet()),
        List.copyOf(codec.decode(codec.encode(new Ordered(names))).names().keySet()));
  }

  record Named(Object anything) {}

  record Raw(@SuppressWarnings("rawtypes") List list) {}

  record Twice(Optional<Optional<String>> one) {}

  record Code(Runnable code) {}

  record Numbers(List<? super Integer> some) {}

  sealed interface Half {}

  static final class Mutable implements Half {
    int x;
  }

  @Test
  void unsupportedTypeIsRefusedAtCodecCreation() {
    assertTrue(refused(Named.class).contains("Named.anything: java.lang.Object has no form in bytes"));
    assertTrue(refused(Raw.class).contains("Raw.list: a raw java.util.List"));
    assertTrue(refused(Twice.class).contains("an Optional of an Optional"));
    assertTrue(refused(Code.class).contains("Code.code: java.lang.Runnable"));
    assertTrue(refused(Numbers.class).contains("Numbers.some: ? super java.lang.Integer"));
    assertTrue(refused(Half.class).contains("Half: io.fibry.codec.CodecTest$Mutable has no form in bytes; use"));
    assertTrue(refused(List.class).contains("a raw java.util.List (make a record that has one"));
    assertTrue(refused(ArrayList.class).contains("raw"));
    assertTrue(refused(StringBuilder.class).contains("java.lang.StringBuilder"));
    assertTrue(refused(Leaf.class).contains("raw"));
  }

  static class Other {
    record Circle(int x) implements SameName {}
  }

  record Square(int x) implements SameName {}

  sealed interface SameName permits Other.Circle, Inner.Circle, Square {}

  static class Inner {
    record Circle(int x) implements SameName {}
  }

  @Test
  void twoTypesOfOneSimpleNameNeedNames() {
    var clash = refused(SameName.class);

    assertTrue(clash.contains("'Circle'") && clash.contains("named(..)"), clash);
    var codec = Codec.of(SameName.class, forms -> forms.named(Inner.Circle.class, "InnerCircle"));
    assertEquals(new Inner.Circle(1), codec.decode(codec.encode(new Inner.Circle(1))));
    assertEquals(new Other.Circle(1), codec.decode(codec.encode(new Other.Circle(1))));
  }

  sealed interface Door {}

  record Open(int wide) implements Door {}

  static final class Shut implements Door {
    static final Shut INSTANCE = new Shut();

    private Shut() {}
  }

  record Locked() {}

  @Test
  void singletonIsEncodedLikeEmptyRecord() {
    var codec = Codec.of(Door.class);
    byte[] bytes = codec.encode(Shut.INSTANCE);
    byte[] empty = Codec.of(Locked.class, forms -> forms.named(Locked.class, "Shut")).encode(new Locked());
    byte[] newer = Codec.of(Open.class, forms -> forms.named(Open.class, "Shut")).encode(new Open(7));

    assertSame(Shut.INSTANCE, codec.decode(bytes));
    assertArrayEquals(empty, bytes);
    assertSame(Shut.INSTANCE, codec.decode(newer));
    assertSame(Shut.INSTANCE, Codec.of(Shut.class).decode(bytes));
    assertEquals("Door = 'Open' Open | 'Shut' Shut\nOpen(wide: int)\nShut()\n", codec.schema());
    assertEquals(Set.of("Open-1", "Shut-1"), codec.samples().keySet());
  }

  // ---- values

  record Text(String text, List<String> more) {}

  private static String notWritten(Text text) {
    return assertThrows(CodecException.class, () -> Codec.of(Text.class).encode(text)).getMessage();
  }

  @Test
  void unencodableValueIsReportedWithItsPath() {
    assertEquals("Text.Text.text: it is null; an Optional can be empty", notWritten(new Text(null, List.of())));
    assertEquals("Text.Text.more[1]: it is null", notWritten(new Text("", Arrays.asList("x", null))));
    assertEquals("Text.Text.text: the text has half of a surrogate pair at 1",
        notWritten(new Text("x\ud800y", List.of())));
    assertTrue(notWritten(new Text("x".repeat(17 << 20), List.of())).contains("more than 16777216 bytes"));
  }

  @Test
  void aValueMayNotBeTooDeep() {
    Tree<String> deep = new Leaf<>("x");
    for (int i = 0; i < 40; i++) deep = new Branch<>(deep, new Leaf<>("y"));
    var forest = new Forest(List.of(deep));

    var refused = assertThrows(CodecException.class, () -> Codec.of(Forest.class).encode(forest));

    assertTrue(refused.getMessage().endsWith("it is nested more than 64 deep"), refused.getMessage());
  }

  // ---- other forms

  private static class V1 {
    record Order(String item, int count) {}
  }

  private static class V2 {
    record Order(String item, long count, List<String> notes, Optional<String> gift, Map<String, Integer> sizes,
        int[] codes) {}
  }

  private static class V3 {
    record Order(String item) {}
  }

  private static class V4 {
    record Order(String item, int count, String currency) {}
  }

  private static class V5 {
    record Order(String note, byte[] picture, String item) {}
  }

  @Test
  void aNewFieldThatMayBeEmptyIsEmpty() {
    byte[] old = Codec.of(V1.Order.class).encode(new V1.Order("cup", 2));

    var read = Codec.of(V2.Order.class).decode(old);

    assertEquals("Order[item=cup, count=2, notes=[], gift=Optional.empty, sizes={}]",
        read.toString().replaceAll(", codes=.*]", "]"));
    assertEquals(0, read.codes().length);
  }

  @Test
  void anUnknownFieldIsSkipped() {
    byte[] newer = Codec.of(V2.Order.class)
        .encode(new V2.Order("cup", 2, List.of("a"), Optional.of("b"), Map.of("c", 1), new int[] {1, 2}));

    assertEquals(new V3.Order("cup"), Codec.of(V3.Order.class).decode(newer));
  }

  @Test
  void anUnknownFieldIsSkippedWhateverItsLength() {
    for (int length : new int[] {0, 1, 23, 24, 255, 256, 65_535, 65_536}) {
      byte[] newer = Codec.of(V5.Order.class).encode(new V5.Order("x".repeat(length), new byte[length], "cup"));

      assertEquals(new V3.Order("cup"), Codec.of(V3.Order.class).decode(newer), length + " bytes");
    }
  }

  @Test
  void aMissingFieldIsNeverZero() {
    byte[] old = Codec.of(V3.Order.class).encode(new V3.Order("cup"));

    var refused = assertThrows(CodecException.class, () -> Codec.of(V1.Order.class).decode(old));

    assertTrue(refused.getMessage().startsWith("Order.Order: field count of Order is missing"), refused.getMessage());
  }

  @Test
  void oldFormIsReadOnlyWhenCurrentFormDoesNotMatch() {
    var codec = Codec.of(V4.Order.class,
        forms -> forms.readOld("Order", V1.Order.class, old -> new V4.Order(old.item, old.count, "EUR")));
    var today = new V4.Order("cup", 1, "USD");

    assertEquals(today, codec.decode(codec.encode(today)));
    assertEquals(new V4.Order("cup", 2, "EUR"),
        codec.decode(Codec.of(V1.Order.class).encode(new V1.Order("cup", 2))));
  }

  @Test
  void ambiguousOldFormIsRefused() {
    UnaryOperator<SchemaEvolution<V1.Order>> ambiguous =
        forms -> forms.readOld("Order", V4.Order.class, old -> new V1.Order(old.item, old.count));

    var refused = assertThrows(IllegalArgumentException.class, () -> Codec.of(V1.Order.class, ambiguous));

    assertTrue(refused.getMessage().contains("could be read as"), refused.getMessage());
  }

  @Test
  void anUnknownTypeIsRefusedByItsName() {
    byte[] bytes = Codec.of(Forest.class).encode(new Forest(List.of()));

    var refused = assertThrows(CodecException.class, () -> Codec.of(Shape.class).decode(bytes));

    assertTrue(
        refused.getMessage().contains("no type named 'Forest' is known; those of Shape are [Box, Circle, Plain]"),
        refused.getMessage());
  }

  @Test
  void invalidTypeNamesAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> Codec.of(Shape.class, forms -> forms.named(V1.class, "x")));
    assertThrows(IllegalArgumentException.class, () -> Codec.of(Shape.class, forms -> forms.named(Box.class, " ")));
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Shape.class, forms -> forms.named(Box.class, "x\ud800")));
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Long.class, forms -> forms.readOld("Order", V1.Order.class, order -> 1L)));
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Shape.class, forms -> forms.readOld("Old", String.class, text -> Plain.EMPTY)));
  }

  @Test
  void constructorFailureIsCodecException() {
    record Positive(int n) {
      Positive {
        if (n <= 0) throw new IllegalArgumentException("not positive: " + n);
      }
    }
    record Any(int n) {}
    byte[] bytes =
        Codec.of(Any.class, forms -> forms.named(Any.class, "Positive")).encode(new Any(-1));

    var refused = assertThrows(CodecException.class, () -> Codec.of(Positive.class).decode(bytes));

    assertTrue(refused.getMessage().contains("the constructor of Positive threw"), refused.getMessage());
    assertEquals(IllegalArgumentException.class, refused.getCause().getClass());
  }

  // ---- the schema

  @Test
  void theSchemaNamesAllTypesAndFields() {
    assertEquals("""
        Box(color: Color?, inside: set [Shape])
        Circle(radius: int)
        Color = GREEN | RED
        Plain = EMPTY
        Shape = 'Box' Box | 'Circle' Circle | 'Plain' Plain
        """, Codec.of(Shape.class).schema());
  }

  @Test
  void samplesHaveEachTypeAndAreRead() {
    var codec = Codec.of(Box.class);
    var samples = codec.samples();

    var all = samples.values().stream().map(codec::decode).toList();
    for (var type : List.of("Box[", "Circle[", "RED", "grass"))
      assertTrue(all.toString().contains(type), type + " in " + all);
    samples
        .forEach((name, bytes) -> assertEquals(codec.decode(bytes), codec.decode(codec.encode(codec.decode(bytes)))));
    assertEquals(samples.keySet(), Codec.of(Box.class).samples().keySet());
  }
}
