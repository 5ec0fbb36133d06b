#pragma once

#include <string>
#include <vector>

namespace tyto::cli {

using TableRows = std::vector<std::vector<std::string>>;  // the first row is the head

// A text with tables and figures that becomes a page of HTML or Markdown. Words between backticks are code.
class Document {
 public:
  explicit Document(std::string title) : title_(std::move(title)) {}

  void heading(std::string text) { blocks_.push_back({Block::kHeading, std::move(text), {}, {}}); }
  void paragraph(std::string text) { blocks_.push_back({Block::kParagraph, std::move(text), {}, {}}); }
  void item(std::string text) { blocks_.push_back({Block::kItem, std::move(text), {}, {}}); }
  void code(std::string text) { blocks_.push_back({Block::kCode, std::move(text), {}, {}}); }
  void table(std::string caption, TableRows rows) {
    blocks_.push_back({Block::kTable, std::move(caption), std::move(rows), {}});
  }
  // `image`: where Markdown finds it.
  void figure(std::string words, std::string svg, std::string image) {
    blocks_.push_back({Block::kFigure, std::move(words), {{std::move(image)}}, std::move(svg)});
  }

  std::string html() const;      // a page that needs no other file
  std::string markdown() const;  // wrapped at 100 columns, but for tables

 private:
  struct Block {
    enum Kind { kHeading, kParagraph, kItem, kCode, kTable, kFigure } kind;
    std::string text;
    TableRows rows;
    std::string svg;
  };
  std::string title_;
  std::vector<Block> blocks_;
};

}  // namespace tyto::cli
