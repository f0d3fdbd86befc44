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

  private static <T> void assertRoundTrip(Class<T> type, T value) {
    var codec = Codec.of(type);

    assertEquals(value, codec.decode(codec.encode(value)));
  }

  private static String refusalOf(Class<?> type) {
    return assertThrows(IllegalArgumentException.class, () -> Codec.of(type)).getMessage();
  }

  // ---- types

  @Test
  void typeMayContainItself() {
    assertRoundTrip(Forest.class, new Forest(List.of(new Branch<>(new Leaf<>("a"), new Leaf<>("b")), new Leaf<>("c"))));
  }

  @Test
  void sealedTypeMayPermitEnumsAndSealedTypes() {
    assertRoundTrip(Shape.class,
        new Box(Optional.of(Color.GREEN), Set.of(new Circle(3), Plain.EMPTY, new Box(Optional.empty(), Set.of()))));
  }

  @Test
  void decodedCollectionsAreImmutable() {
    record Kept(List<Integer> list, Set<Integer> set, Map<String, Integer> map) {}
    var codec = Codec.of(Kept.class);
    var collections = new Kept(new ArrayList<>(List.of(1)), Set.of(2), new HashMap<>(Map.of("x", 3)));

    var decoded = codec.decode(codec.encode(collections));

    assertEquals(collections, decoded);
    assertThrows(UnsupportedOperationException.class, () -> decoded.list.add(4));
    assertThrows(UnsupportedOperationException.class, () -> decoded.set.add(4));
    assertThrows(UnsupportedOperationException.class, () -> decoded.map.put("y", 4));
  }

  @Test
  void decodedMapKeepsOrderOfEntries() {
    record Ordered(Map<Integer, String> names) {}
    var names = new LinkedHashMap<Integer, String>();
    for (int i = 100; i > 0; i--) names.put(i, "n" + i);
    var codec = Codec.of(Ordered.class);

    assertEquals(List.copyOf(names.keySet()),
        List.copyOf(codec.decode(codec.encode(new Ordered(names))).names().keySet()));
  }

  record Named(Object anything) {}

  record Raw(@SuppressWarnings("rawtypes") List list) {}

  record NestedOptional(Optional<Optional<String>> value) {}

  record Code(Runnable code) {}

  record Numbers(List<? super Integer> some) {}

  sealed interface WithUnsupportedSubtype {}

  static final class Mutable implements WithUnsupportedSubtype {
    int x;
  }

  @Test
  void unsupportedTypeIsRefusedAtCodecCreation() {
    assertTrue(refusalOf(Named.class).contains("Named.anything: java.lang.Object cannot be encoded"));
    assertTrue(refusalOf(Raw.class).contains("Raw.list: a raw java.util.List"));
    assertTrue(refusalOf(NestedOptional.class).contains("an Optional of an Optional"));
    assertTrue(refusalOf(Code.class).contains("Code.code: java.lang.Runnable"));
    assertTrue(refusalOf(Numbers.class).contains("Numbers.some: ? super java.lang.Integer"));
    assertTrue(refusalOf(WithUnsupportedSubtype.class)
        .contains("WithUnsupportedSubtype: io.fibry.codec.CodecTest$Mutable cannot be encoded; use"));
    assertTrue(refusalOf(List.class).contains("a raw java.util.List (put it into a record"));
    assertTrue(refusalOf(ArrayList.class).contains("raw"));
    assertTrue(refusalOf(StringBuilder.class).contains("java.lang.StringBuilder"));
    assertTrue(refusalOf(Leaf.class).contains("raw"));
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
  void typesWithSameSimpleNameNeedExplicitNames() {
    var refusal = refusalOf(SameName.class);

    assertTrue(refusal.contains("'Circle'") && refusal.contains("named(..)"), refusal);
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
    byte[] emptyRecordBytes = Codec.of(Locked.class, forms -> forms.named(Locked.class, "Shut")).encode(new Locked());
    byte[] openBytes = Codec.of(Open.class, forms -> forms.named(Open.class, "Shut")).encode(new Open(7));

    assertSame(Shut.INSTANCE, codec.decode(bytes));
    assertArrayEquals(emptyRecordBytes, bytes);
    assertSame(Shut.INSTANCE, codec.decode(openBytes));
    assertSame(Shut.INSTANCE, Codec.of(Shut.class).decode(bytes));
    assertEquals("Door = 'Open' Open | 'Shut' Shut\nOpen(wide: int)\nShut()\n", codec.schema());
    assertEquals(Set.of("Open-1", "Shut-1"), codec.samples().keySet());
  }

  // ---- values

  record Text(String text, List<String> more) {}

  private static String encodeFailure(Text text) {
    return assertThrows(CodecException.class, () -> Codec.of(Text.class).encode(text)).getMessage();
  }

  @Test
  void unencodableValueIsReportedWithItsPath() {
    assertEquals("Text.Text.text: it is null; an Optional can be empty", encodeFailure(new Text(null, List.of())));
    assertEquals("Text.Text.more[1]: it is null", encodeFailure(new Text("", Arrays.asList("x", null))));
    assertEquals("Text.Text.text: the text has half of a surrogate pair at 1",
        encodeFailure(new Text("x\ud800y", List.of())));
    assertTrue(encodeFailure(new Text("x".repeat(17 << 20), List.of())).contains("more than 16777216 bytes"));
  }

  @Test
  void tooDeeplyNestedValueIsRefused() {
    Tree<String> tree = new Leaf<>("x");
    for (int i = 0; i < 40; i++) tree = new Branch<>(tree, new Leaf<>("y"));
    var forest = new Forest(List.of(tree));

    var failure = assertThrows(CodecException.class, () -> Codec.of(Forest.class).encode(forest));

    assertTrue(failure.getMessage().endsWith("it is nested more than 64 deep"), failure.getMessage());
  }

  // ---- changed records

  private static class ItemAndCount {
    record Order(String item, int count) {}
  }

  private static class MoreFields {
    record Order(String item, long count, List<String> notes, Optional<String> gift, Map<String, Integer> sizes,
        int[] codes) {}
  }

  private static class ItemOnly {
    record Order(String item) {}
  }

  private static class WithCurrency {
    record Order(String item, int count, String currency) {}
  }

  private static class LongFields {
    record Order(String note, byte[] picture, String item) {}
  }

  @Test
  void missingOptionalFieldIsDecodedAsEmpty() {
    byte[] oldBytes = Codec.of(ItemAndCount.Order.class).encode(new ItemAndCount.Order("cup", 2));

    var order = Codec.of(MoreFields.Order.class).decode(oldBytes);

    assertEquals("Order[item=cup, count=2, notes=[], gift=Optional.empty, sizes={}]",
        order.toString().replaceAll(", codes=.*]", "]"));
    assertEquals(0, order.codes().length);
  }

  record Pair(int first, int firstOther) {}

  record Swapped(int firstOther, int first) {}

  record Übung(int größe) {}

  /** A reader expects the fields in the order of the record, and must not depend on it. */
  @Test
  void fieldsMayComeInAnotherOrder() {
    var codec = Codec.of(Pair.class, forms -> forms.named(Pair.class, "P"));
    var swapped = Codec.of(Swapped.class, forms -> forms.named(Swapped.class, "P"));

    assertEquals(new Pair(1, 2), codec.decode(swapped.encode(new Swapped(2, 1))));
  }

  @Test
  void nameMayHaveCharactersThatAreNotAscii() {
    assertRoundTrip(Übung.class, new Übung(7));
  }

  @Test
  void unknownFieldIsSkipped() {
    byte[] newerBytes = Codec.of(MoreFields.Order.class)
        .encode(new MoreFields.Order("cup", 2, List.of("a"), Optional.of("b"), Map.of("c", 1), new int[] {1, 2}));

    assertEquals(new ItemOnly.Order("cup"), Codec.of(ItemOnly.Order.class).decode(newerBytes));
  }

  @Test
  void unknownFieldOfAnyLengthIsSkipped() {
    for (int length : new int[] {0, 1, 23, 24, 255, 256, 65_535, 65_536}) {
      byte[] newerBytes =
          Codec.of(LongFields.Order.class).encode(new LongFields.Order("x".repeat(length), new byte[length], "cup"));

      assertEquals(new ItemOnly.Order("cup"), Codec.of(ItemOnly.Order.class).decode(newerBytes), length + " bytes");
    }
  }

  @Test
  void missingNumberFieldIsRefused() {
    byte[] oldBytes = Codec.of(ItemOnly.Order.class).encode(new ItemOnly.Order("cup"));

    var failure = assertThrows(CodecException.class, () -> Codec.of(ItemAndCount.Order.class).decode(oldBytes));

    assertTrue(failure.getMessage().startsWith("Order.Order: field count of Order is missing"), failure.getMessage());
  }

  @Test
  void decoderUsesOldFormOnlyIfCurrentFormDoesNotMatch() {
    var codec = Codec.of(WithCurrency.Order.class,
        forms -> forms.readOld("Order", ItemAndCount.Order.class,
            old -> new WithCurrency.Order(old.item, old.count, "EUR")));
    var current = new WithCurrency.Order("cup", 1, "USD");

    assertEquals(current, codec.decode(codec.encode(current)));
    assertEquals(new WithCurrency.Order("cup", 2, "EUR"),
        codec.decode(Codec.of(ItemAndCount.Order.class).encode(new ItemAndCount.Order("cup", 2))));
  }

  @Test
  void oldFormThatMatchesCurrentFormIsRefused() {
    UnaryOperator<SchemaEvolution<ItemAndCount.Order>> ambiguous =
        forms -> forms.readOld("Order", WithCurrency.Order.class, old -> new ItemAndCount.Order(old.item, old.count));

    var refusal = assertThrows(IllegalArgumentException.class, () -> Codec.of(ItemAndCount.Order.class, ambiguous));

    String old = WithCurrency.Order.class.getName();
    String current = ItemAndCount.Order.class.getName();
    assertEquals("bytes of " + old + " could be read as " + current + ", because " + old + " has all fields that "
        + current + " requires; give one of the types another name", refusal.getMessage());
  }

  @Test
  void decodeFailureNamesUnknownType() {
    byte[] bytes = Codec.of(Forest.class).encode(new Forest(List.of()));

    var failure = assertThrows(CodecException.class, () -> Codec.of(Shape.class).decode(bytes));

    assertTrue(
        failure.getMessage().contains("no type named 'Forest' is known; the types of Shape are [Box, Circle, Plain]"),
        failure.getMessage());
  }

  @Test
  void invalidTypeNamesAreRefused() {
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Shape.class, forms -> forms.named(ItemAndCount.class, "x")));
    assertThrows(IllegalArgumentException.class, () -> Codec.of(Shape.class, forms -> forms.named(Box.class, " ")));
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Shape.class, forms -> forms.named(Box.class, "x\ud800")));
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Long.class, forms -> forms.readOld("Order", ItemAndCount.Order.class, order -> 1L)));
    assertThrows(IllegalArgumentException.class,
        () -> Codec.of(Shape.class, forms -> forms.readOld("Old", String.class, text -> Plain.EMPTY)));
  }

  @Test
  void exceptionOfRecordConstructorBecomesCodecException() {
    record Positive(int n) {
      Positive {
        if (n <= 0) throw new IllegalArgumentException("not positive: " + n);
      }
    }
    record Any(int n) {}
    byte[] bytes =
        Codec.of(Any.class, forms -> forms.named(Any.class, "Positive")).encode(new Any(-1));

    var failure = assertThrows(CodecException.class, () -> Codec.of(Positive.class).decode(bytes));

    assertTrue(failure.getMessage().contains("the constructor of Positive threw"), failure.getMessage());
    assertEquals(IllegalArgumentException.class, failure.getCause().getClass());
  }

  // ---- the schema

  @Test
  void schemaNamesAllTypesAndFields() {
    assertEquals("""
        Box(color: Color?, inside: set [Shape])
        Circle(radius: int)
        Color = GREEN | RED
        Plain = EMPTY
        Shape = 'Box' Box | 'Circle' Circle | 'Plain' Plain
        """, Codec.of(Shape.class).schema());
  }

  @Test
  void codecSamplesIncludeDecodableValueOfEachType() {
    var codec = Codec.of(Box.class);
    var samples = codec.samples();

    var values = samples.values().stream().map(codec::decode).toList();
    for (var type : List.of("Box[", "Circle[", "RED", "grass"))
      assertTrue(values.toString().contains(type), type + " in " + values);
    samples
        .forEach((name, bytes) -> assertEquals(codec.decode(bytes), codec.decode(codec.encode(codec.decode(bytes)))));
    assertEquals(samples.keySet(), Codec.of(Box.class).samples().keySet());
  }
}
