"""Random text in which some words are common and most are rare, as in real texts (Zipf's law)."""

from bisect import bisect
from itertools import accumulate
from random import Random

_SYLLABLES = (
    *("ba", "re", "ti", "con", "mo", "ser", "vi", "pla", "sto", "ken", "lu", "dra", "pe", "ni", "fo", "gra"),
    *("xe", "qui", "tal", "mer", "ous", "ing", "ed", "er", "ly"),
)
_HAN = (
    "快取效能資料庫使用者登入驗證設定檔案路徑版本更新刪除建立專案成員權限安全測試部署環境變數訊息佇列索引搜尋結果錯誤處理重試"
    "介面服務模組函式參數回傳連線逾時記憶體程式碼審查合併分支提交文件說明需求設計架構系統流程排程備份還原監控日誌警告通知"
)
WORDS = 40_000


class Prose:
    """Texts of a vocabulary of 40,000 words; one in five texts ends with Chinese characters."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        words = {"".join(self.random.choices(_SYLLABLES, k=1 + n % 4)) for n in range(WORDS)}
        self._words = sorted(words)
        self.random.shuffle(self._words)
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(len(self._words))))

    def word(self) -> str:
        return self._words[bisect(self._weights, self.random.random() * self._weights[-1])]

    def han(self, characters: int) -> str:
        return "".join(self.random.choices(_HAN, k=characters))

    def text(self) -> str:
        """One to five sentences of 12 words on average."""
        words = " ".join(self._sentence() for _ in range(self.random.randint(1, 5)))
        return f"{words} {self.han(self.random.randint(6, 30))}" if self.random.random() < 0.2 else words

    def _sentence(self) -> str:
        return " ".join(self.word() for _ in range(self.random.randint(6, 18))).capitalize() + "."
